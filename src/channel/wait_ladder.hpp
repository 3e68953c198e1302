// SPDX-License-Identifier: Apache-2.0
// Purpose: the one place where a thread waits for a word: spin, then yield, then sleep.
//
// Roles: one WaitLadder per rank, used by that rank's thread only. Others reach the rank through
// its ParkingSpot after they have changed the word that it waits for.
//
// Layout: private to the thread but for the parking spot and the team's `broken` flag.
//
// Protocol:
//   1. look at the word a few times with a pause between; 2. go on for at most the spin budget;
//   3. yield between looks for at most the yield budget; 4. park. Between looks on the slow rungs
//   the team's broken flag and the deadline are checked. Budgets learn: a wait that ended on rungs
//   1 to 3 doubles them, one that was much longer than both halves them, so that a rank whose waits
//   are long soon sleeps at once.
//
// Order: none of its own; the caller names the order of its word. The broken flag is relaxed: it
// carries no data, its reader takes the team's mutex for the details.
//
// Progress: returns when the word satisfies the caller, the team is broken, or the deadline has
// passed.
//
// Checked by: verify/worlds/parking_world.cpp for rung 4; tests/unit/team for the deadlines.
#pragma once

#include "channel/env.hpp"
#include "channel/parking_spot.hpp"

#include <corymb/wait_policy.hpp>

#include <atomic>
#include <cstdint>

namespace corymb::channel {

/// Tells the CPU that this is a spin loop.
inline void cpu_pause() noexcept {
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    asm("yield" ::: "memory");
#endif
}

class WaitLadder {
public:
    struct Settings {
        WaitPolicy policy = WaitPolicy::ladder;
        bool oversubscribed = false;  ///< More ranks than CPUs: do not spin.
        std::int64_t deadline_ns = 0; ///< Longest wait; 0 is none.
    };
    using Spot = ParkingSpot<StandardEnv>;
    using Flag = StandardEnv::Atomic<std::uint32_t>;

    /// `spot` is this rank's; a non-zero `broken` ends every wait.
    WaitLadder(Spot& spot, const Flag& broken, const Settings& settings) noexcept;

    /// Waits until `satisfied(word)`; `seen` is the value that satisfied it. False: the team is
    /// broken or the deadline has passed (`timed_out` says which).
    template <class T, class Predicate>
    [[nodiscard]] bool await(const StandardEnv::Atomic<T>& word, std::memory_order order,
                             const Predicate& satisfied, T& seen) {
        for (int look = 0; look < quick_looks_; ++look) {
            seen = word.load(order);
            if (satisfied(seen)) [[likely]] {
                return true;
            }
            cpu_pause();
        }
        auto look = [&]() noexcept {
            seen = word.load(order);
            return satisfied(seen);
        };
        return climb(Look{&look, [](void* self) noexcept {
                              return (*static_cast<decltype(look)*>(self))();
                          }});
    }

    [[nodiscard]] bool timed_out() const noexcept { return timed_out_; }

private:
    struct Look {
        void* self;
        bool (*call)(void*) noexcept;
        bool operator()() const noexcept { return call(self); }
    };
    enum class Rung { satisfied, next, give_up };

    bool climb(const Look& look) noexcept;
    Rung spin(const Look& look, std::int64_t begin) noexcept;
    Rung yield(const Look& look, std::int64_t begin) noexcept;
    Rung park(const Look& look, std::int64_t begin) noexcept;
    bool must_give_up(std::int64_t begin, std::int64_t now) noexcept;
    void learn(bool was_long) noexcept;

    int quick_looks_;
    bool timed_out_ = false;
    std::int64_t spin_ns_, spin_ns_max_;
    std::int64_t yield_ns_, yield_ns_max_;
    std::int64_t deadline_ns_;
    Spot* spot_;
    const Flag* broken_;
};

} // namespace corymb::channel

// SPDX-License-Identifier: Apache-2.0
// Purpose: lets threads sleep in the kernel until others make a condition true, at the price of one
// load of a usually shared line for those others.
//
// Roles: sleepers, which park, and wakers, any number of either. Each waker makes the condition
// true first and then calls wake_if_parked. The condition is some other atomic word. Where
// Sleepers::one is said, there is one sleeper, the owner. Only an owner names the waker that it
// awaits, takes its announcement back, and changes who pays for its sleeps.
//
// Layout:
//   line  bytes  field    written by         read by
//   0     4      word     sleepers, wakers   wakers, kernel     awaited | events counted << 16
//   0     4      reach    at the start       everybody          whether some are in other processes
//   0     4      fencing  owner              wakers             which fences both sides execute
//   0     4      waker    owner, wakers      sleepers           CPU of the last to wake: advice
//   `awaited` is 0 if nobody sleeps, or the key of the waker that the owner awaits, or `anybody`.
//
// Protocol:
//   sleeper  1. announce: awaited = key, and keep the word; 2. own fence; 3. look at the condition
//            once more; 4. if it does not hold: sleep while the word is as it was kept, look again,
//            and go to 1 unless it holds; 5. an owner: awaited = 0.
//   waker    1. make the condition true; 2. own fence; 3. if awaited is `anybody` or the waker's
//            own key, or is not 0 and the waker has none: count an event, with which awaited
//            becomes 0, and wake everybody.
//   Only the waker with the key can make the condition of that sleep true, so that all others leave
//   the owner asleep. Ranks that share a key wake each other's sleepers in vain.
//   Sleepers of Sleepers::many announce `anybody` and take nothing back: one that need not sleep
//   after all costs one idle wake-up. Because events are counted, a sleeper that looked before an
//   event does not sleep after it, even if another sleeper has announced itself again. An owner has
//   no such neighbour and begins the count anew with each announcement.
//   A waker that comes late can find a newer announcement and count its event for that: the sleep
//   then returns at once, and the sleeper looks and announces again. Wake-ups are never lost,
//   sometimes idle.
//
// Order: store-then-load on both sides (Dekker), decided by the fence pair:
//   F1: light_fence between the waker's condition store and its load of the word <-> heavy_fence
//       between the sleeper's change of the word and its load of the condition. At least one of the
//       two loads sees the other side's store. All accesses to the word are relaxed: nothing is
//       published through it, the condition word carries its own release/acquire pair. Between
//       processes the heavy fence is the one that reaches all of them (base/membarrier.hpp);
//       a team in which one process cannot be reached has full light fences. With Fencing::both the
//       two are full_fence <-> full_fence instead. When an owner goes over to that, its next fence
//       is still heavy: a waker whose light fence came before it has made its condition true by
//       then, and one whose light fence comes after it sees the new value of `fencing`.
//
// Progress: wake_if_parked is lock-free, and without sleepers wait-free; it has a system call when
// somebody sleeps. A sleeper that misses a multiple of 2^16 events between looking and sleeping
// could sleep too long; it has a limit anyway.
//
// Checked by: verify/worlds/event_count_world.cpp (no lost wake-up: deadlock detection), loom.
#pragma once

#include "base/cache_line.hpp"
#include "base/reach.hpp"

#include <atomic>
#include <cstdint>
#include <limits>
#include <sched.h>

namespace corymb::channel {

/// Says which side pays for a sleep. The heavy fence interrupts other CPUs, which takes
/// microseconds: too much for an owner that sleeps again and again because it has no CPU of its
/// own.
enum class Fencing : std::uint32_t {
    sleeper, ///< A heavy fence before each sleep, a light one for each wake-up.
    both,    ///< A full fence each.
};

enum class Sleepers : std::uint8_t {
    one,  ///< One thread sleeps, the owner.
    many, ///< Any number of threads do.
};

/// Names a waker.
using WakeKey = std::uint32_t;
inline constexpr WakeKey anybody = 0xffff;
/// Ranks below 0 stand for anybody.
constexpr WakeKey wake_key(std::int32_t rank) noexcept {
    return rank < 0 ? anybody : static_cast<WakeKey>(rank) % (anybody - 1) + 1;
}

template <class Env, Sleepers sleepers = Sleepers::one>
class alignas(line_pair_bytes) EventCount {
public:
    EventCount() noexcept = default;
    explicit EventCount(Reach reach, Fencing fencing = Fencing::sleeper) noexcept
        : reach_(reach), fencing_(number(fencing)), wakers_pay_(fencing == Fencing::both),
          is_fixed_(fencing == Fencing::both) {}

    /// Sleeper: sleeps until `done` or `stop`, which are looked at after each announcement;
    /// `time_left_ns` gives the longest sleep. Returns whether it was `done`. Nobody but the waker
    /// `key` may make `done` true, and only an owner may name one. A thread that makes `stop` true
    /// must wake without a key. After a wake-up the sleeper looks at `done` before it announces
    /// again, because another heavy fence would make it late.
    template <class Done, class Stop, class TimeLeft>
    bool park(const Done& done, const Stop& stop, const TimeLeft& time_left_ns,
              WakeKey key = anybody) noexcept {
        if constexpr (is_owned) {
            waker_cpu_.store(-1, std::memory_order_relaxed);
        }
        for (;;) {
            const std::uint32_t heard = announce(key);
            const bool is_done = done();
            if (is_done || stop()) {
                retract();
                return is_done;
            }
            sleep(heard, time_left_ns());
            if (done()) {
                retract();
                return true;
            }
        }
    }

    // The parts of `park`.
    /// Says that the caller is about to sleep. It must look at its condition after this call.
    std::uint32_t announce(WakeKey key = anybody) noexcept {
        const std::uint32_t heard = put(key);
        if (wakers_pay_) {
            Env::full_fence(); // F1
        } else {
            Env::heavy_fence(reach_); // F1
            if constexpr (is_owned) {
                wakers_pay_ = fencing_.load(std::memory_order_relaxed) == number(Fencing::both);
            }
        }
        return heard;
    }
    /// Sleeps until woken or `timeout_ns` has passed; may return early. `heard` as announced.
    void sleep(std::uint32_t heard, std::int64_t timeout_ns) noexcept {
        Env::futex_wait(word_, heard, timeout_ns, reach_);
    }
    /// Says that the owner is awake and will not sleep.
    void retract() noexcept {
        if constexpr (is_owned) {
            word_.store(0, std::memory_order_relaxed);
        }
    }

    /// Owner, awake: who pays for the sleeps that follow. An event count that was made with `both`
    /// stays so, because heavy fences may not reach its wakers.
    void set_fencing(Fencing fencing) noexcept {
        static_assert(is_owned);
        if (!is_fixed_ && fencing_.load(std::memory_order_relaxed) != number(fencing)) {
            fencing_.store(number(fencing), std::memory_order_relaxed);
            wakers_pay_ = false; // Until the next heavy fence, a waker may not know of it.
        }
    }

    /// Sleeper, after `park`: on which CPU its waker ran, -1 when nobody had to wake it. With many
    /// sleepers: where the last waker of any of them ran, -1 when there was none.
    [[nodiscard]] int waker_cpu() const noexcept {
        return waker_cpu_.load(std::memory_order_relaxed);
    }

    /// Anybody, for people: whether somebody sleeps or is about to.
    [[nodiscard]] bool is_parked() const noexcept {
        return awaited_of(word_.load(std::memory_order_relaxed)) != 0;
    }

    /// Waker: to be called after the store that makes a sleeper's condition true.
    void wake_if_parked(WakeKey own = anybody) noexcept {
        Env::light_fence(); // F1
        if (fencing_.load(std::memory_order_relaxed) == number(Fencing::both)) {
            Env::full_fence(); // F1
        }
        const std::uint32_t heard = word_.load(std::memory_order_relaxed);
        if (is_for(heard, own)) [[unlikely]] {
            wake(heard, own);
        }
    }

private:
    static constexpr bool is_owned = sleepers == Sleepers::one;
    static constexpr std::uint32_t number(Fencing fencing) noexcept {
        return static_cast<std::uint32_t>(fencing);
    }
    static constexpr WakeKey awaited_of(std::uint32_t word) noexcept { return word & anybody; }
    /// Whether somebody sleeps that the waker `own` has to wake.
    static constexpr bool is_for(std::uint32_t word, WakeKey own) noexcept {
        const WakeKey awaited = awaited_of(word);
        return awaited != 0 && (own == anybody || awaited == anybody || awaited == own);
    }
    static constexpr std::uint32_t after_an_event(std::uint32_t word) noexcept {
        return (word | anybody) + 1;
    }

    std::uint32_t put(WakeKey key) noexcept {
        if constexpr (is_owned) {
            word_.store(key, std::memory_order_relaxed);
            return key;
        } else {
            return word_.fetch_or(anybody, std::memory_order_relaxed) | anybody;
        }
    }

    /// Out of line, because the registers that a system call needs are then free for messages that
    /// wake nobody.
    [[gnu::noinline]] void wake(std::uint32_t heard, WakeKey own) noexcept {
        while (is_for(heard, own)) {
            if (word_.replace(heard, after_an_event(heard), std::memory_order_relaxed)) {
                waker_cpu_.store(::sched_getcpu(), std::memory_order_relaxed);
                Env::futex_wake(word_, std::numeric_limits<int>::max(), reach_);
                return;
            }
            heard = word_.load(std::memory_order_relaxed);
        }
    }

    typename Env::template Atomic<std::uint32_t> word_;
    Reach reach_ = Reach::process; ///< Reach of wakers and sleepers; never changes.
    typename Env::template Atomic<std::uint32_t> fencing_{number(Fencing::sleeper)};
    std::atomic<std::int32_t> waker_cpu_{-1};
    // The owner's own; of many sleepers they never change:
    bool wakers_pay_ = false; ///< All wakers know that they execute full fences.
    bool is_fixed_ = false;   ///< Never changes.
};

} // namespace corymb::channel

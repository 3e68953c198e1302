// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/clock.hpp"
#include "base/wait_clock.hpp"
#include "channel/env.hpp"
#include "channel/event_count.hpp"
#include "channel/event_counts.hpp"
#include "channel/meanwhile.hpp"
#include "channel/patience.hpp"
#include "channel/waiter_cpus.hpp"

#include <algorithm>
#include <cstdint>
#include <limits>

namespace corymb::channel {

/// How one thread waits, and with whom.
struct Waiting {
    /// `cpus` is null if the group is named later (CpuMates::be_among).
    Waiting(WaitPolicy policy, bool oversubscribed, WaiterCpus* cpus) noexcept
        : patience(policy, oversubscribed), mates(cpus) {}
    Patience patience;
    CpuMates mates;
};

inline void set_spot(Meanwhile::Wait& wait, EventCount<StandardEnv>& events) noexcept {
    wait.spot = &events;
}
inline void set_spot(Meanwhile::Wait& wait,
                     EventCount<StandardEnv, Sleepers::many>& events) noexcept {
    wait.shared_spot = &events;
}
/// Such a waiter is a scheduler, whose own thread has no other calls.
inline void set_spot(Meanwhile::Wait& /*wait*/, EventCounts<StandardEnv>& /*events*/) noexcept {}

/// A limit that no wait reaches; such a wait reads no clock to see whether it has.
inline constexpr std::int64_t without_limit_ns = std::numeric_limits<std::int64_t>::max();

/// Waits until `look()`, at most `limit_ns`: awake as long as `waiting` has it, then asleep in the
/// event count `events`. Looks at least once. For waits that have no team which can break.
template <class LookFunction, class Events>
bool wait_until(Waiting& waiting, LookFunction& look, std::int64_t limit_ns, Events& events) {
    static constexpr std::int64_t sleep_at_most_ns = 1'000'000'000; // Bounds one system call.
    if (limit_ns <= 0) {
        return look();
    }
    Patience& patience = waiting.patience;
    if (patience.look_quickly(look)) [[likely]] {
        return true;
    }
    const std::int64_t begin = now_ns();
    WaitClock clock(begin);
    const bool is_limited = limit_ns != without_limit_ns;
    auto stop = [&clock, limit_ns, is_limited]() noexcept {
        return is_limited && clock.waited_ns() >= limit_ns;
    };
    auto sleep_ns = [&clock, limit_ns, is_limited]() noexcept {
        return is_limited
                   ? std::clamp<std::int64_t>(limit_ns - clock.waited_ns(), 1, sleep_at_most_ns)
                   : sleep_at_most_ns;
    };
    if (Meanwhile* const others = meanwhile()) [[unlikely]] {
        Meanwhile::Wait wait{Look(look), Look(stop), TimeLeft(sleep_ns)};
        set_spot(wait, events);
        wait.cpus = waiting.mates.cpus();
        const auto found = others->wait(wait);
        if (found != Meanwhile::Outcome::alone) {
            return found == Meanwhile::Outcome::satisfied || look();
        }
    }
    using Outcome = Patience::Outcome;
    const Outcome outcome = patience.wait_awake(Look(look), Look(stop), &waiting.mates, begin);
    if (outcome != Outcome::exhausted) {
        return outcome == Outcome::satisfied || look();
    }
    const bool found = events.park(look, stop, [&clock, &sleep_ns, is_limited]() noexcept {
        const std::int64_t sleep = sleep_ns();
        if (is_limited) {
            clock.expect_sleep(sleep);
        }
        return sleep;
    });
    const std::int64_t end = now_ns();
    waiting.mates.note_waker(events.waker_cpu(), end);
    patience.learn_from_sleep(end - begin);
    return found;
}

} // namespace corymb::channel

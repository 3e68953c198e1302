// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/wait_clock.hpp"
#include "channel/patience.hpp"
#include "channel/waiter_cpus.hpp"

#include <algorithm>
#include <cstdint>

namespace corymb::message {

/// How one thread waits, and with whom.
struct Waiting {
    Waiting(WaitPolicy policy, bool oversubscribed, channel::WaiterCpus& cpus) noexcept
        : patience(policy, oversubscribed), mates(&cpus) {}
    channel::Patience patience;
    channel::CpuMates mates;
};

/// Waits until `look()`, at most `limit_ns`: awake as long as `waiting` has it, then asleep in
/// `bed.park`, which is a ParkingSpot or a WakeBell. Looks at least once.
template <class LookFunction, class Bed>
bool wait_until(Waiting& waiting, LookFunction& look, std::int64_t limit_ns, Bed& bed) {
    static constexpr std::int64_t sleep_at_most_ns = 1'000'000'000; // Bounds one system call.
    channel::Patience& patience = waiting.patience;
    for (int i = 0; i < patience.quick_looks(); ++i) {
        if (look()) {
            return true;
        }
        if (limit_ns <= 0) {
            return false;
        }
        channel::cpu_pause();
    }
    const std::int64_t begin = now_ns();
    WaitClock clock(begin);
    auto stop = [&clock, limit_ns]() noexcept {
        return clock.waited_ns() >= limit_ns;
    };
    using Outcome = channel::Patience::Outcome;
    const Outcome outcome =
        patience.wait_awake(channel::Look(look), channel::Look(stop), &waiting.mates, begin);
    if (outcome != Outcome::exhausted) {
        return outcome == Outcome::satisfied || look();
    }
    const bool found = bed.park(look, stop, [&clock, limit_ns]() noexcept {
        const std::int64_t sleep =
            std::clamp<std::int64_t>(limit_ns - clock.waited_ns(), 1, sleep_at_most_ns);
        clock.expect_sleep(sleep);
        return sleep;
    });
    const std::int64_t end = now_ns();
    waiting.mates.note_waker(bed.waker_cpu(), end);
    patience.learn_from_sleep(end - begin);
    return found;
}

} // namespace corymb::message

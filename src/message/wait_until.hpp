// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/clock.hpp"
#include "channel/patience.hpp"

#include <algorithm>
#include <cstdint>

namespace corymb::message {

/// Waits until `look()`, at most `limit_ns`: awake as long as `patience` has it, then asleep in
/// `bed.park`, which is a ParkingSpot or a WakeBell. Looks at least once.
template <class LookFunction, class Bed>
bool wait_until(channel::Patience& patience, LookFunction& look, std::int64_t limit_ns, Bed& bed) {
    static constexpr std::int64_t sleep_at_most_ns = 1'000'000'000; // Bounds one system call.
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
    auto stop = [begin, limit_ns]() noexcept {
        return now_ns() - begin >= limit_ns;
    };
    using Outcome = channel::Patience::Outcome;
    const Outcome outcome =
        patience.wait_awake(channel::Look(look), channel::Look(stop), nullptr, begin);
    if (outcome != Outcome::exhausted) {
        return outcome == Outcome::satisfied || look();
    }
    const bool found = bed.park(look, stop, [begin, limit_ns]() noexcept {
        return std::clamp<std::int64_t>(limit_ns - (now_ns() - begin), 1, sleep_at_most_ns);
    });
    patience.learn_from_sleep(now_ns() - begin);
    return found;
}

} // namespace corymb::message

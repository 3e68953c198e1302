// SPDX-License-Identifier: Apache-2.0
// The clock of deadlines: it counts only the time in which the waiter could look.
#pragma once

#include "base/clock.hpp"

#include <algorithm>
#include <cstdint>

namespace corymb {

/// How long a wait has taken. A process that is stopped and continued, or a machine that sleeps,
/// cannot look meanwhile, and neither can the peers that are stopped with it: from one look to the
/// next a wait gets older by the sleep that was asked for and `slice_ns` at most.
class WaitClock {
public:
    /// `late_ns` of the wait have passed before `begin_ns`.
    explicit WaitClock(std::int64_t begin_ns = now_ns(), std::int64_t late_ns = 0) noexcept
        : looked_ns_(begin_ns), waited_ns_(late_ns) {}

    /// Call it after each look.
    std::int64_t waited_ns() noexcept {
        const std::int64_t now = now_ns();
        waited_ns_ += std::min(now - looked_ns_, longest_ns_);
        looked_ns_ = now;
        longest_ns_ = slice_ns;
        return waited_ns_;
    }
    /// The next look comes after a sleep of so long at most.
    void expect_sleep(std::int64_t sleep_ns) noexcept { longest_ns_ = sleep_ns + slice_ns; }

    /// A thread that is ready to run mostly waits less for a CPU; where it waits longer, deadlines
    /// come late. If this were much longer, a few stops would end a wait.
    static constexpr std::int64_t slice_ns = 100'000'000;

private:
    std::int64_t looked_ns_;
    std::int64_t waited_ns_;
    std::int64_t longest_ns_ = slice_ns; ///< Longest time to the next look.
};

} // namespace corymb

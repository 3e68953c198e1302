// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/wait_clock.hpp"

#include <algorithm>
#include <cstdint>

namespace corymb::group {

/// Waits for `limit_ns` at most: `wait(ns)` returns whether there is what it waits for, after one
/// look at least. After each slice `look_after(is_last)` looks after the others; it may throw.
/// False: the limit has passed, and a last look has found nothing.
template <class Wait, class LookAfter>
[[nodiscard]] bool wait_in_slices(std::int64_t limit_ns, std::int64_t slice_ns_max,
                                  const Wait& wait, const LookAfter& look_after) {
    WaitClock clock;
    for (std::int64_t left = limit_ns;; left = limit_ns - clock.waited_ns()) {
        const std::int64_t slice = std::min(left, slice_ns_max);
        clock.expect_sleep(slice);
        if (wait(slice)) {
            return true;
        }
        look_after(left <= slice);
        if (left <= slice) {
            return wait(0);
        }
    }
}

} // namespace corymb::group

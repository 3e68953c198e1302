// SPDX-License-Identifier: Apache-2.0
// Time for measuring and for deadlines.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <limits>

namespace corymb {

/// Nanoseconds of the monotonic clock. About 20-40 ns a call: never on a fast path.
inline std::int64_t now_ns() noexcept {
    return std::chrono::duration_cast<std::chrono::nanoseconds>(
               std::chrono::steady_clock::now().time_since_epoch())
        .count();
}

/// A caller's limit, such that it can be doubled and added to the clock: longer than 73 years is as
/// good as 73, less than nothing is nothing.
constexpr std::int64_t bounded_ns(std::chrono::nanoseconds limit) noexcept {
    return std::clamp<std::int64_t>(limit.count(), 0, std::numeric_limits<std::int64_t>::max() / 4);
}

} // namespace corymb

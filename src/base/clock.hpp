// SPDX-License-Identifier: Apache-2.0
// Time for measuring and for deadlines.
#pragma once

#include <chrono>
#include <cstdint>

namespace corymb {

/// Nanoseconds of the monotonic clock. About 20-40 ns a call: never on a fast path.
inline std::int64_t now_ns() noexcept {
    return std::chrono::duration_cast<std::chrono::nanoseconds>(
               std::chrono::steady_clock::now().time_since_epoch())
        .count();
}

} // namespace corymb

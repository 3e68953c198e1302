// SPDX-License-Identifier: Apache-2.0
// How long tests wait. Limits end a test that hangs and measure nothing, and they grow with the
// factor by which threads and processes take longer than on a quiet machine.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdlib>

namespace corymb {

/// That factor, 1 or more, as tools/test.sh has measured it.
inline int slowness() {
    const char* const measured = std::getenv("CORYMB_TEST_SLOWNESS");
    return std::max(1,
                    measured != nullptr ? static_cast<int>(std::strtol(measured, nullptr, 10)) : 1);
}

/// A time of a quiet machine, on this one.
template <class Rep, class Period>
std::chrono::duration<Rep, Period> scaled(std::chrono::duration<Rep, Period> time) {
    return time * static_cast<Rep>(slowness());
}

/// For what should come.
inline std::chrono::seconds test_limit() {
    return scaled(std::chrono::seconds(120));
}

} // namespace corymb

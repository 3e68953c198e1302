// SPDX-License-Identifier: Apache-2.0
// The clocks of the benchmark, in nanoseconds.
#pragma once

#include <ctime>

#include <cstdint>

namespace corymb::bench {

inline std::int64_t clock_ns(clockid_t clock) noexcept {
    timespec now{};
    clock_gettime(clock, &now);
    return static_cast<std::int64_t>(now.tv_sec) * 1'000'000'000 + now.tv_nsec;
}

inline std::int64_t wall_ns() noexcept {
    return clock_ns(CLOCK_MONOTONIC);
}
/// Time that the calling thread has been on a CPU, in user and kernel mode.
inline std::int64_t thread_cpu_ns() noexcept {
    return clock_ns(CLOCK_THREAD_CPUTIME_ID);
}

inline void sleep_ns(std::int64_t duration) noexcept {
    const timespec time{duration / 1'000'000'000, duration % 1'000'000'000};
    clock_nanosleep(CLOCK_MONOTONIC, 0, &time, nullptr);
}

} // namespace corymb::bench

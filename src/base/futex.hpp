// SPDX-License-Identifier: Apache-2.0
// The kernel's sleep-on-a-word. Private to the process.
#pragma once

#include <atomic>
#include <cstdint>
#include <ctime>
#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace corymb::futex {

/// Sleeps while `word` holds `expected`, at most `timeout_ns`. May return early for no reason.
inline void wait(const std::atomic<std::uint32_t>& word, std::uint32_t expected,
                 std::int64_t timeout_ns) noexcept {
    timespec timeout{};
    timeout.tv_sec = static_cast<std::time_t>(timeout_ns / 1'000'000'000);
    timeout.tv_nsec = static_cast<long>(timeout_ns % 1'000'000'000);
    ::syscall(SYS_futex, &word, FUTEX_WAIT_PRIVATE, expected, &timeout, nullptr, 0);
}

/// Wakes at most `count` sleepers of `word`.
inline void wake(const std::atomic<std::uint32_t>& word, int count) noexcept {
    ::syscall(SYS_futex, &word, FUTEX_WAKE_PRIVATE, count, nullptr, nullptr, 0);
}

} // namespace corymb::futex

// SPDX-License-Identifier: Apache-2.0
// The kernel's sleep-on-a-word. Sleepers and wakers of a word name the same reach.
#pragma once

#include "base/reach.hpp"

#include <atomic>
#include <cstdint>
#include <ctime>
#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace corymb::futex {

/// Sleeps while `word` holds `expected`, at most `timeout_ns`. May return early for no reason.
inline void wait(const std::atomic<std::uint32_t>& word, std::uint32_t expected,
                 std::int64_t timeout_ns, Reach reach = Reach::process) noexcept {
    timespec timeout{};
    timeout.tv_sec = static_cast<std::time_t>(timeout_ns / 1'000'000'000);
    timeout.tv_nsec = static_cast<long>(timeout_ns % 1'000'000'000);
    const int operation = reach == Reach::process ? FUTEX_WAIT_PRIVATE : FUTEX_WAIT;
    ::syscall(SYS_futex, &word, operation, expected, &timeout, nullptr, 0);
}

/// Wakes at most `count` sleepers of `word`.
inline void wake(const std::atomic<std::uint32_t>& word, int count,
                 Reach reach = Reach::process) noexcept {
    const int operation = reach == Reach::process ? FUTEX_WAKE_PRIVATE : FUTEX_WAKE;
    ::syscall(SYS_futex, &word, operation, count, nullptr, nullptr, 0);
}

/// A sleeper of `word`, if there is one, goes on sleeping on `other`.
inline void move(const std::atomic<std::uint32_t>& word, const std::atomic<std::uint32_t>& other,
                 Reach reach = Reach::process) noexcept {
    const int operation = reach == Reach::process ? FUTEX_REQUEUE_PRIVATE : FUTEX_REQUEUE;
    constexpr long woken = 0;
    constexpr long moved = 1;
    ::syscall(SYS_futex, &word, operation, woken, moved, &other, 0);
}

} // namespace corymb::futex

// SPDX-License-Identifier: Apache-2.0
// The kernel's sleep-on-a-word. Sleepers and wakers of a word name the same reach.
#pragma once

#include "base/reach.hpp"

#include <array>
#include <atomic>
#include <cerrno>
#include <cstddef>
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

/// Words to sleep on at once, at most 128.
class WordList {
public:
    /// Further words than there is room for make `wait_any` impossible.
    void add(const std::atomic<std::uint32_t>& word, std::uint32_t expected, Reach reach) noexcept {
        if (count_ < most) {
            Waiter& one = waiters_[count_];
            one.expected = expected;
            one.word = reinterpret_cast<std::uintptr_t>(&word);
            one.flags = size_32 | (reach == Reach::process ? FUTEX_PRIVATE_FLAG : 0);
        }
        ++count_;
    }
    /// Sleeps while all words are as expected, at most `timeout_ns`. May return early for no
    /// reason. False, at once: this kernel cannot (Linux before 5.16), or there are too many words.
    [[nodiscard]] bool wait_any(std::int64_t timeout_ns) const noexcept {
        static constexpr std::int64_t second_ns = 1'000'000'000;
        if (count_ > most) {
            return false;
        }
        timespec until{}; // The call has no relative time.
        ::clock_gettime(CLOCK_MONOTONIC, &until);
        const std::int64_t end_ns = until.tv_nsec + timeout_ns % second_ns;
        until.tv_sec += static_cast<std::time_t>(timeout_ns / second_ns + end_ns / second_ns);
        until.tv_nsec = static_cast<long>(end_ns % second_ns);
        const long result = ::syscall(number, waiters_.data(), count_, 0U, &until, CLOCK_MONOTONIC);
        return result >= 0 || (errno != ENOSYS && errno != EPERM);
    }

private:
    /// The kernel's `struct futex_waitv`, which headers of older systems do not have.
    struct Waiter {
        std::uint64_t expected = 0;
        std::uint64_t word = 0;
        std::uint32_t flags = 0;
        std::uint32_t reserved = 0;
    };
    static constexpr std::size_t most = 128;
    static constexpr std::uint32_t size_32 = 2;
    static constexpr long number = 449; ///< The system call's, on all architectures.

    std::array<Waiter, most> waiters_;
    std::size_t count_ = 0;
};

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

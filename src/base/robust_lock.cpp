// SPDX-License-Identifier: Apache-2.0
#include "base/robust_lock.hpp"

#include "base/clock.hpp"
#include "base/process_state.hpp"

#include <corymb/error.hpp>

#include <fmt/format.h>

#include <cerrno>
#include <cstring>
#include <ctime>
#include <unistd.h>

namespace corymb {

namespace {

constexpr std::int64_t second_ns = 1'000'000'000;
// Thousands of times as long as an owner holds the lock.
constexpr std::int64_t slice_ns = 5'000'000;

/// Waits for a slice at most. Returns the result of pthread_mutex_lock, or ETIMEDOUT.
int lock_within_slice(pthread_mutex_t& mutex) noexcept {
    const std::int64_t end = now_ns() + slice_ns;
    const timespec until{.tv_sec = end / second_ns, .tv_nsec = end % second_ns};
    return pthread_mutex_clocklock(&mutex, CLOCK_MONOTONIC, &until);
}

} // namespace

RobustLock::RobustLock() : owner_(0) {
    pthread_mutexattr_t kind;
    pthread_mutexattr_init(&kind);
    pthread_mutexattr_setpshared(&kind, PTHREAD_PROCESS_SHARED);
    pthread_mutexattr_setrobust(&kind, PTHREAD_MUTEX_ROBUST);
    const int error = pthread_mutex_init(&mutex_, &kind);
    pthread_mutexattr_destroy(&kind);
    if (error != 0) {
        throw Error(Errc::unsupported, fmt::format("no lock between processes can be made ({})",
                                                   std::strerror(error)));
    }
}

void RobustLock::lock(std::chrono::nanoseconds limit) {
    int result = pthread_mutex_trylock(&mutex_);
    if (result == EBUSY) {
        const std::int64_t begin = now_ns();
        while ((result = lock_within_slice(mutex_)) == ETIMEDOUT) {
            if (now_ns() - begin >= limit.count()) {
                const std::uint32_t owner = owner_.load(std::memory_order_relaxed);
                throw Error(
                    Errc::timeout,
                    fmt::format("process {}{} has kept the team's lock for {:.3g} s; let it "
                                "go on, or end it",
                                owner, process_state(owner),
                                std::chrono::duration<double>(limit).count()));
            }
        }
    }
    if (result == EOWNERDEAD) {
        pthread_mutex_consistent(&mutex_);
    } else if (result != 0) {
        throw Error(Errc::io, fmt::format("the team's lock fails ({})", std::strerror(result)));
    }
    owner_.store(static_cast<std::uint32_t>(::getpid()), std::memory_order_relaxed);
}

void RobustLock::unlock() noexcept {
    pthread_mutex_unlock(&mutex_);
}

} // namespace corymb

// SPDX-License-Identifier: Apache-2.0
// A lock in memory that several processes share, which survives the death of any of them.
//
// RobustLock is the system's robust mutex, waited for in slices. When the owner dies, the kernel
// hands the mutex on. A waiter may die as well: woken, but not yet the owner. If another thread has
// taken the mutex meanwhile, the mutex no longer records further waiters, and these sleep for good.
// A new look after each slice ends that.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <pthread.h>

namespace corymb {

class RobustLock {
public:
    /// Constructed in shared memory that is all zeros. Throws Error (unsupported).
    RobustLock();
    RobustLock(const RobustLock&) = delete;
    RobustLock& operator=(const RobustLock&) = delete;

    /// Returns once this thread has the lock. An owner that died is no obstacle; the guarded data
    /// must be sound after any instruction (commit.hpp). Throws Error (timeout) that names the
    /// owner when it keeps the lock for `limit`, as a process does that is stopped in the middle.
    void lock(std::chrono::nanoseconds limit = std::chrono::minutes(1));
    void unlock() noexcept;

private:
    pthread_mutex_t mutex_;
    std::atomic<std::uint32_t> owner_; ///< Process that has it, or had it last; for people.
};

} // namespace corymb

// SPDX-License-Identifier: Apache-2.0
// Counters and locks that cost nothing extra where only one of the program's threads is in MPI at a
// time: a short nonblocking call changes and locks a dozen of them.
#pragma once

#include <atomic>
#include <mutex>

namespace corymb::mpi {

/// Whether several threads may be in MPI at once. Known with the first communicator.
inline constinit std::atomic<bool> many_threads{true};
[[nodiscard]] inline bool has_many_threads() noexcept {
    return many_threads.load(std::memory_order_relaxed);
}

/// Adds to a counter that threads in MPI change and any thread may read. Returns the value before.
/// A single thread has all accesses in its own order; only counters that other threads read beside
/// another word (seq_cst: see progress_thread.cpp, hook.cpp) need an order.
template <class T>
T add(std::atomic<T>& counter, T number,
      std::memory_order order = std::memory_order_relaxed) noexcept {
    if (has_many_threads()) {
        return counter.fetch_add(number, order);
    }
    const T before = counter.load(std::memory_order_relaxed);
    counter.store(before + number,
                  order == std::memory_order_seq_cst ? order : std::memory_order_relaxed);
    return before;
}

/// A lock of data that only threads in MPI use.
class LockAmongThreads {
public:
    explicit LockAmongThreads(std::mutex& mutex) : lock_(mutex, std::defer_lock) {
        if (has_many_threads()) {
            lock_.lock();
        }
    }

private:
    std::unique_lock<std::mutex> lock_;
};

} // namespace corymb::mpi

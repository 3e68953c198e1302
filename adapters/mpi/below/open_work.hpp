// SPDX-License-Identifier: Apache-2.0
// Work for which peers may need this rank within the MPI while it waits in corymb: windows for
// one-sided operations, and messages that it has begun. While there is any, such waits look after
// the MPI all the time, as the MPI's own waits do. Counts need not be exact: a low one brings fewer
// looks, a high one more.
#pragma once

#include "below/host.hpp"
#include "below/threads.hpp"

#include <atomic>

namespace corymb::mpi {

inline constinit std::atomic<int> open_windows{0};
/// Begun by MPI_Isend, MPI_Irecv and their like.
inline constinit std::atomic<int> open_messages{0};

[[nodiscard]] inline bool has_open_work() noexcept {
    return open_windows.load(std::memory_order_relaxed) > 0 ||
           open_messages.load(std::memory_order_relaxed) > 0;
}
/// Tells libcorymb whether there is any, once it has been loaded.
void tell_of_open_work() noexcept;

/// A function of the MPI's that opens something has returned `result`.
inline int opened(int result, std::atomic<int>& counter) noexcept {
    if (result == MPI_SUCCESS && add(counter, 1) == 0) {
        tell_of_open_work();
    }
    return result;
}
inline void closed(std::atomic<int>& counter, int count = 1) noexcept {
    const int before = add(counter, -count);
    if (before < count) {
        counter.store(0, std::memory_order_relaxed);
    }
    if (before <= count) {
        tell_of_open_work();
    }
}

} // namespace corymb::mpi

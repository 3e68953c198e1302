// SPDX-License-Identifier: Apache-2.0
// An asymmetric fence: the frequent side pays a compiler barrier, the rare side a system call that
// makes every running thread of the process execute a full barrier (membarrier(2), private
// expedited). Where the kernel does not offer it, both sides execute a full fence.
#pragma once

#include <atomic>

namespace corymb::membarrier {

namespace detail {
extern const bool expedited; // set before main; false until then, which is the safe side
void call() noexcept;
} // namespace detail

/// Whether the system call is in use; for `corymb doctor`.
inline bool available() noexcept {
    return detail::expedited;
}

inline void light() noexcept {
    if (detail::expedited) [[likely]] {
        std::atomic_signal_fence(std::memory_order_seq_cst);
    } else {
        std::atomic_thread_fence(std::memory_order_seq_cst);
    }
}

inline void heavy() noexcept {
    if (detail::expedited) [[likely]] {
        detail::call();
    } else {
        std::atomic_thread_fence(std::memory_order_seq_cst);
    }
}

} // namespace corymb::membarrier

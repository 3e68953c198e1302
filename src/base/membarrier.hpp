// SPDX-License-Identifier: Apache-2.0
// An asymmetric fence. The frequent side pays a compiler barrier. The rare side pays a system call
// that makes running threads execute a full barrier (membarrier(2)): the threads of this process
// (private expedited), or of all processes that have joined (global expedited). Where the kernel
// does not offer it, both sides execute a full fence. A full light fence goes with either heavy
// one.
#pragma once

#include "base/reach.hpp"

#include <atomic>

namespace corymb::membarrier {

namespace detail {
// Light fences are compiler barriers; false until the registration before main, which is the safe
// side.
extern std::atomic<bool> asymmetric;
void call(Reach reach) noexcept;
} // namespace detail

/// Whether the system call is in use; for `corymb doctor`.
inline bool available() noexcept {
    return detail::asymmetric.load(std::memory_order_relaxed);
}

/// Registers this process for heavy fences of other processes. False: the kernel does not offer
/// it; then every process of the team must call `use_full_light_fences` before it sends anything.
[[nodiscard]] bool join_machine() noexcept;

/// Makes the light fences of this process full ones from now on. Not undone.
void use_full_light_fences() noexcept;

/// A fence for both ends of a pair that does without the system call.
inline void full() noexcept {
    std::atomic_thread_fence(std::memory_order_seq_cst);
}

inline void light() noexcept {
    if (detail::asymmetric.load(std::memory_order_relaxed)) [[likely]] {
        std::atomic_signal_fence(std::memory_order_seq_cst);
    } else {
        full();
    }
}

inline void heavy(Reach reach = Reach::process) noexcept {
    detail::call(reach);
}

} // namespace corymb::membarrier

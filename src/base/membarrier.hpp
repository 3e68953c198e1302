// SPDX-License-Identifier: Apache-2.0
// An asymmetric fence. The frequent side pays a compiler barrier. The rare side pays a system call
// that makes running threads execute a full barrier (membarrier(2)): the threads of this process
// (private expedited), or of all processes that have joined (global expedited). Where the kernel
// does not offer it, both sides execute a full fence. A full light fence goes with either heavy
// one.
//
// The call waits for all CPUs that run the process. On a virtual machine one of them may have no
// CPU of the host for tens of milliseconds. Each thread therefore compares the time of its calls
// with the time between them. Where calls take longer than all else, the process goes over to full
// fences at both ends, while its threads go on: first light fences become full, then one last call
// makes sure that no thread is past an older one, and only then heavy fences do without the call. A
// light fence that still was a compiler barrier lies before that call, so what its thread stored
// before the fence is seen by whoever executes a heavy fence after the call.
#pragma once

#include "base/reach.hpp"

#include <atomic>
#include <cstdint>

namespace corymb::membarrier {

namespace detail {
// Light fences are compiler barriers; false until the registration before main, which is the safe
// side.
extern std::atomic<bool> asymmetric;
void call(Reach reach) noexcept;

/// How long the calls of one thread take.
class Watch {
public:
    /// Counts a call. True: of the last ones so many more took longer than the time between it and
    /// the call before than did not, that it is no accident.
    [[nodiscard]] bool is_dear(std::int64_t begin_ns, std::int64_t end_ns) noexcept;

private:
    std::int64_t last_end_ns_ = 0; ///< 0: there was none.
    int long_calls_ = 0;           ///< More than short ones, at least 0.
};
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

/// Makes both fences among the threads of this process full ones, without the system call. Heavy
/// fences that reach other processes stay. Any thread, at any time. Not undone.
void use_full_fences() noexcept;

/// Whether the process has gone over to full fences because the call takes too long.
[[nodiscard]] bool is_dear() noexcept;

/// A fence for both ends of a pair that does without the system call.
inline void full() noexcept {
    std::atomic_thread_fence(std::memory_order_seq_cst);
}

inline void light() noexcept {
    // What the caller has stored lies before the look: a call after the look then covers it.
    std::atomic_signal_fence(std::memory_order_seq_cst);
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

// SPDX-License-Identifier: Apache-2.0
// Steps by which several processes come to share memory: descriptors, fences, checks after a fork.
#pragma once

#include "base/shared_memory.hpp"

#include <cstdint>

namespace corymb::common {

/// Time between looks of a waiting thread after processes that may have ended.
inline constexpr std::int64_t look_every_ns = 20'000'000;

[[nodiscard]] std::uint32_t own_pid() noexcept;

/// Prepares this process's fences for memory that it has made, if that is of several processes.
/// Returns whether all of them need full light fences, to be given to `join_fences` there.
[[nodiscard]] bool make_fences(Reach reach);
/// Joins the fences of memory that another process has made. Throws Errc::unsupported.
void join_fences(bool full);

/// A descriptor that child processes inherit and the caller closes. Throws Errc::invalid_argument
/// for null, which `what` for threads has; Errc::io.
[[nodiscard]] int inheritable(const SharedMemory* file, const char* what);

/// Throws when this process was forked since `fork_count_then`.
void check_not_forked(std::uint32_t fork_count_then);

/// Whether this process's CPU quota lets fewer than so many threads run at the same time: then
/// spinning takes time from threads that have work. Sharing of CPUs is found in the waits
/// themselves.
[[nodiscard]] bool is_short_of_time(int threads);

} // namespace corymb::common

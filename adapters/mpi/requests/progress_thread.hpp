// SPDX-License-Identifier: Apache-2.0
// How corymb's requests go on while the program waits in an MPI without a hook, or computes: a
// thread of the adapter's looks now and then. Between nodes, where the
// program allows that (MPI_THREAD_MULTIPLE), it also looks after messages of the MPI's.
#pragma once

namespace corymb::mpi {

/// Makes the thread, asleep. False, after a line on stderr: that cannot be done.
[[nodiscard]] bool make_progress_thread() noexcept;
/// Wakes it. After each request that begins.
void wake_progress_thread() noexcept;
/// Call it at MPI_Finalize, when nothing is under way.
void end_progress_thread() noexcept;

} // namespace corymb::mpi

// SPDX-License-Identifier: Apache-2.0
// How corymb's requests go on while the program waits in the MPI below: a function of ours that the
// MPI calls whenever it looks after its own. MPICH has MPIX_Async_start for this, Open MPI
// opal_progress_register; without one there is a thread (progress_thread.hpp).
#pragma once

#include "below/host.hpp"

#include <cstddef>

namespace corymb::mpi {

/// Whether this MPI has one; finds out at the first call.
[[nodiscard]] bool has_hook() noexcept;
/// Whether requests of this process go on by a thread instead: the MPI has no hook, or
/// CORYMB_MPI_PROGRESS=thread.
[[nodiscard]] bool goes_on_by_thread() noexcept;
/// What the hook does, all in functions that outlive it.
struct HookActions {
    /// Goes on with all requests; returns about how many are under way.
    std::size_t (*go_on)() noexcept;
    /// Whether any is under way.
    bool (*is_needed)() noexcept;
};
/// Installs the hook: from now on the MPI calls `go_on` as long as it is needed. Call it before
/// each request that begins, always with one set of actions.
void keep_hook(const HookActions& actions) noexcept;
/// Whether the request is worth a look. False only if the MPI has called the hook and can tell,
/// without another look at all of its own requests, that the request is not complete.
[[nodiscard]] bool may_be_complete(MPI_Request request) noexcept;
/// At MPI_Finalize, when nothing is under way.
void remove_hook() noexcept;

} // namespace corymb::mpi

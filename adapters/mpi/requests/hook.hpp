// SPDX-License-Identifier: Apache-2.0
// How corymb's requests go on while the program waits in the MPI below: a function of ours that the
// MPI calls whenever it looks after its own. MPICH has MPIX_Async_start for this, Open MPI
// opal_progress_register; without one there is a thread (progress_thread.hpp).
#pragma once

#include "below/host.hpp"

namespace corymb::mpi {

/// Whether this MPI has one; finds out at the first call.
[[nodiscard]] bool has_hook() noexcept;
/// Installs the hook: from now on the MPI calls go_on_with_requests() as long as there are requests
/// under way. Call it before each request that begins.
void keep_hook() noexcept;
/// Whether the request is worth a look. False only if the MPI has called the hook and can tell,
/// without another look at all of its own requests, that the request is not complete.
[[nodiscard]] bool may_be_complete(MPI_Request request) noexcept;
/// At MPI_Finalize, when nothing is under way.
void remove_hook() noexcept;

} // namespace corymb::mpi

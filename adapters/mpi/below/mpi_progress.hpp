// SPDX-License-Identifier: Apache-2.0
// Looking after the MPI below while this rank waits in corymb: peers may wait for it there.
#pragma once

#include "below/host.hpp"

namespace corymb::mpi {

/// Set while this thread is in a function that the MPI has called.
inline thread_local constinit bool is_within_mpi = false;

/// Lets the MPI go on, unless that has just taken long. Nothing within the MPI.
void progress_mpi() noexcept;
/// As progress_mpi, for a rank that does not wait but computes between two tests: at most one look,
/// as the MPI's own tests have.
void progress_mpi_briefly() noexcept;
/// Lets the MPI go on in any case, once.
void progress_mpi_at_once() noexcept;
/// A communicator of this process alone whose errors are returned; null after end_mpi_progress.
[[nodiscard]] MPI_Comm quiet_comm() noexcept;
/// Call it at MPI_Finalize: no visits after this.
void end_mpi_progress() noexcept;

} // namespace corymb::mpi

// SPDX-License-Identifier: Apache-2.0
// Programs whose requests are completed past the adapter.
#pragma once

namespace corymb::mpi {

/// Whether this process may hand a request to the MPI itself, for which it would be nothing that is
/// under way: it uses Fortran's module mpi_f08, of which MPICH starts collectives by the functions
/// that the adapter replaces and completes them by others; or a tool before the adapter, which may
/// be part of the program, replaces MPI_Wait or its like. Found once, from the names that the
/// objects of the process have and ask for: those at the first call.
[[nodiscard]] bool completions_pass_by() noexcept;

} // namespace corymb::mpi

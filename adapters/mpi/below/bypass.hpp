// SPDX-License-Identifier: Apache-2.0
// Programs whose requests are completed past the adapter.
#pragma once

namespace corymb::mpi {

/// Whether this process may hand a request to the MPI itself, which knows of no operation under way
/// for it. There are two ways: the process uses Fortran's module mpi_f08, where MPICH starts
/// collectives by functions that the adapter replaces and completes them by others; or a tool
/// before the adapter, which may be part of the program, replaces MPI_Wait or a similar function.
/// Found once, at the first call, from the names that the objects of the process have and ask for.
[[nodiscard]] bool completions_pass_by() noexcept;

} // namespace corymb::mpi

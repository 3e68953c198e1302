// SPDX-License-Identifier: Apache-2.0
// The one exchange by which the ranks of a communicator decide alike. README.md lists where.
#pragma once

#include "below/host.hpp"
#include "policy/agreement.hpp"

namespace corymb::mpi {

/// Collective over the communicator: combines what its ranks have named. False: the MPI cannot, and
/// the values are this rank's own.
[[nodiscard]] bool agree(Agreement& agreement, MPI_Comm comm) noexcept;

} // namespace corymb::mpi

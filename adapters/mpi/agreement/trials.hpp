// SPDX-License-Identifier: Apache-2.0
// How the ranks of a communicator agree who was faster.
#pragma once

#include "communicator/communicator.hpp"

namespace corymb::mpi {

/// Collective over the communicator, at a synchronisation point: settles the operations that were
/// tried in nonblocking calls.
void synchronise_requests(Communicator& communicator) noexcept;

} // namespace corymb::mpi

// SPDX-License-Identifier: Apache-2.0
// How the ranks of a communicator on one node get a team in nonblocking calls, in which no rank may
// wait for another: in steps, of which each call takes as many as it can.
#pragma once

#include "communicator/communicator.hpp"

namespace corymb::mpi {

/// The program's next nonblocking call of a communicator whose calls are the MPI's so far; before
/// the MPI has it. True: from this call on, on all ranks, nonblocking calls have the team.
[[nodiscard]] bool take_steps(Communicator& communicator) noexcept;
/// Uncounts the call: the MPI has refused it on this rank.
void take_back_steps(Communicator& communicator) noexcept;
/// Collective, in an agreement which has found that nonblocking calls of a rank have the team: now
/// all ranks have it. False: the MPI cannot agree.
[[nodiscard]] bool go_on_with_steps(Communicator& communicator);

} // namespace corymb::mpi

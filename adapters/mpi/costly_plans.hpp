// SPDX-License-Identifier: Apache-2.0
// Operations between nodes whose plans take long to be made.
#pragma once

namespace corymb::mpi {

struct Group;

/// Plans in which all ranks have a part for all others are made in a time that grows with the
/// square of the ranks: ten seconds for a thousand. Calls of such operations are the MPI's for
/// about as long, so that a program which has few of them does not wait for plans, and one which
/// has many loses little. `Group::early` says how long a call takes; where no rank knows, nothing
/// waits.
void postpone_costly_plans(Group& group) noexcept;

} // namespace corymb::mpi

// SPDX-License-Identifier: Apache-2.0
// Operations between nodes whose plans take long to be made.
#pragma once

namespace corymb::mpi {

struct Group;

/// Plans in which all ranks have a part for all others are made in a time that grows with the
/// square of the ranks: ten seconds for a thousand. Blocking calls of such operations are the MPI's
/// until those of a size have taken as long, so that a program which has few of them does not wait
/// for plans, and one which has many loses little. Throws std::bad_alloc.
void postpone_costly_plans(Group& group);

} // namespace corymb::mpi

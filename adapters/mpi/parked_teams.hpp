// SPDX-License-Identifier: Apache-2.0
// Teams whose communicator has been freed. Programs make communicators of the same ranks again and
// again, for a solver's every call; to make memory and plans for each takes longer than many of
// them live. The next one of the same ranks in the same order goes on with the team, its plans and
// who was found to be faster.
//
// Which team that is, ranks agree on: each offers one, and only if it is the same for all they take
// it. Else they make a new one, and what was offered ends: a rank may have lost its part, or not
// have freed the communicator yet.
#pragma once

#include "group.hpp"

namespace corymb::mpi {

/// So many at most: then the one that was parked first ends.
inline constexpr std::size_t parked_most = 16;

/// Takes the team of a group that ends, if it has one that others can go on with: on this rank
/// nothing of it has failed.
void park(Group& group) noexcept;

/// A team that the ranks of this communicator can go on with, which is no longer parked; without
/// one, its id is 0. Of several the same one on ranks that have the same ones.
[[nodiscard]] RankTeam take_parked(const Group& group) noexcept;

/// Ends all of them, with their communicators or, before the MPI frees those itself, without.
void end_parked(bool with_communicators) noexcept;

[[nodiscard]] int parked_count() noexcept;

} // namespace corymb::mpi

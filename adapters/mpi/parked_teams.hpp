// SPDX-License-Identifier: Apache-2.0
// Teams whose communicator has been freed. Programs make communicators of the same ranks again and
// again, for a solver's every call; to make memory and plans for each takes longer than many of
// them live. The next one of the same ranks in the same order goes on with the team, its plans and
// who was found to be faster.
//
// Which team that is, ranks agree on: each offers one, and only if it is the same for all, after as
// many calls on each, they take it. Else they make a new one, and what was offered ends: a rank may
// have lost its part, have refused a call, or not have freed the communicator yet.
//
// Between nodes a team has communicators of the MPI's, which are freed together, in the program's
// own MPI_Comm_free, or in MPI_Finalize. One that ends alone leaves them to that, and too many such
// ends end the parking between nodes.
#pragma once

#include "group.hpp"

#include <cstdint>

namespace corymb::mpi {

/// So many at most, and, if there are several, so many ranks of all: their memory stays.
inline constexpr std::size_t parked_most = 16;
inline constexpr int parked_ranks_most = 512;

/// Takes the team of a group that ends, if it has one that others can go on with: nothing has
/// failed on this rank, and nothing that the ranks have begun goes on. One that was parked earlier
/// may end.
void park(Group& group) noexcept;

/// A team that the ranks of this communicator can go on with, which is no longer parked; without
/// one, its id is 0. Of several the same one on ranks that have the same ones.
[[nodiscard]] RankTeam take_parked(const Group& group) noexcept;
/// Whether there is one.
[[nodiscard]] bool has_parked(const Group& group) noexcept;
/// The number that ranks compare, of a team and what it has done; 0 without a team.
[[nodiscard]] std::uint64_t offer_of(const RankTeam& team) noexcept;
/// Ends what was taken but is not gone on with.
void give_up(RankTeam&& team) noexcept;

/// Ends all of them.
void end_parked() noexcept;

[[nodiscard]] int parked_count() noexcept;

} // namespace corymb::mpi

// SPDX-License-Identifier: Apache-2.0
// Teams whose communicator has been freed. Programs make communicators of the same ranks again and
// again, for a solver's every call; making memory and plans for each takes longer than many of them
// live. The next communicator of the same ranks in the same order goes on with the team, its plans
// and its verdicts on which library is faster.
//
// The ranks agree on a team. Each offers one, and they take it only if it is the same for all,
// after equal numbers of calls on each. Otherwise they make a new one, and the offered ones end: a
// rank may have lost its part, have refused a call, or not have freed the communicator yet.
//
// Between nodes a team has communicators of the MPI, which are freed together, in the program's own
// MPI_Comm_free, or in MPI_Finalize. A team that ends alone leaves them to that call, and too many
// such ends end the parking between nodes.
#pragma once

#include "communicator/communicator.hpp"

#include <cstdint>

namespace corymb::mpi {

/// So many teams at most and, if there are several, so many ranks of all: their memory stays.
inline constexpr std::size_t kept_teams_most = 16;
inline constexpr int kept_team_ranks_most = 512;

/// Takes the team of a communicator that ends, if it has one that others can go on with: nothing
/// has failed on this rank, and nothing that the ranks have begun goes on. One that was kept
/// earlier may end.
void keep_team(Communicator& communicator) noexcept;

/// A team that the ranks of this communicator can go on with, which is no longer kept; without
/// one, its id is 0. Ranks that have the same teams get the same one.
[[nodiscard]] RankTeam take_kept_team(const Communicator& communicator) noexcept;
/// Whether there is one.
[[nodiscard]] bool has_kept_team(const Communicator& communicator) noexcept;
/// The number that ranks compare, of a team and what it has done; 0 without a team.
[[nodiscard]] std::uint64_t offer_of(const RankTeam& team) noexcept;
/// Ends a team that was taken but is not gone on with.
void give_up(RankTeam&& team) noexcept;

/// Ends all of them.
void end_kept_teams() noexcept;

[[nodiscard]] int kept_team_count() noexcept;

} // namespace corymb::mpi

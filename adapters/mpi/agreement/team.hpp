// SPDX-License-Identifier: Apache-2.0
// Helpers of ranks that look for shared memory: team.cpp for one node, steps.cpp for one node in
// nonblocking calls, node_teams.cpp for several.
#pragma once

#include "below/descriptor.hpp"
#include "communicator/communicator.hpp"
#include "communicator/reasons.hpp"
#include "communicator/terms.hpp"
#include "policy/agreement.hpp"

#include <corymb.h>

#include <cstdint>
#include <string>

namespace corymb::mpi {

/// Different on machines and in containers that cannot share memory: no proof that they can, but
/// where it differs nobody needs to try.
[[nodiscard]] std::uint64_t machine_and_namespace();
/// A random number that is not 0.
[[nodiscard]] std::uint64_t random_number();
/// Collective over the communicator: the objections of all ranks together, and what `agreement`
/// names, too.
[[nodiscard]] std::uint64_t all_objections(const Communicator& communicator, std::uint64_t own,
                                           Agreement agreement = {});
/// Makes the memory of a team; false: none can be had.
[[nodiscard]] bool make_memory(int size, Descriptor& memory);
/// Opens the memory of another process; without success it has no number.
void open_memory(std::uint64_t pid, std::uint64_t descriptor, Descriptor& memory);
/// Whether this process has the memory, and addresses to map it. A process without them would keep
/// the others waiting while they attach.
[[nodiscard]] bool can_map(const Descriptor& memory);
/// Becomes one of the ranks of the memory's team, once all are there.
[[nodiscard]] corymb_status attach(RankTeam& team, int descriptor, int size, int rank);
/// As `attach`, but waits for nobody: corymb_process_team_try_meet goes on.
[[nodiscard]] corymb_status attach_at_once(RankTeam& team, int descriptor, int size, int rank,
                                           corymb_process_team*& arriving);
/// The number that rank 0 of the team has drawn comes through its memory; `rank` is this process's
/// in that team.
[[nodiscard]] bool has_nonce(const RankTeam& team, int rank, std::uint64_t nonce);

/// CORYMB_MPI has this value.
[[nodiscard]] bool is_switched(const char* how) noexcept;
/// Whether time plays no part: a variable says so, or there is a team to go on with.
[[nodiscard]] bool is_in_a_hurry(const Communicator& communicator) noexcept;
/// How long calls on one node have to take before there is a team, as far as this rank knows.
[[nodiscard]] std::int64_t team_pays_ns() noexcept;
/// The terms of a rank, which offers the kept team with that number; 0: none. Without one rank 0
/// makes the memory.
void propose(const Communicator& communicator, std::uint64_t kept, Terms& terms,
             Descriptor& memory);
/// Takes what all ranks say, before they attach.
void take_terms(RankTeam& team, const Terms& of_all, MPI_Comm comm, int size);
/// The ranks have the team.
void begin_use(RankTeam& team, bool is_crowded, bool mpi_keeps_cpus) noexcept;
/// What people are told of objections.
[[nodiscard]] std::string texts_of(std::uint64_t objections);
/// For later teams of this process.
void note_team() noexcept;
inline void object(std::uint64_t& objections, Objection objection) noexcept {
    objections |= static_cast<std::uint64_t>(objection);
}

/// Collective over the communicator. It ends with a team or a reason, on which all ranks agree, or
/// it is too early for a team between nodes, unless the team is urgent.
void agree_on_team(Communicator& communicator, bool is_urgent) noexcept;

/// Collective over a communicator whose ranks are on several nodes: makes node teams, and messages
/// between them. Returns the ranks' objections (Objection); 0: they have a team. Unless the team is
/// urgent, an unknown network may have to wait.
[[nodiscard]] std::uint64_t agree_on_node_teams(Communicator& communicator, bool is_urgent);

} // namespace corymb::mpi

// SPDX-License-Identifier: Apache-2.0
// What the adapter keeps of a communicator: its team, or why it has none. It hangs on the
// communicator as an attribute and goes with it.
#pragma once

#include "account.hpp"
#include "host.hpp"
#include "reasons.hpp"

#include <corymb.h>

#include <mutex>
#include <string>

namespace corymb::mpi {

struct Group {
    enum class State : unsigned char { early, team, passed };

    MPI_Comm comm{};
    int rank = 0;
    int size = 0;
    State state = State::early;
    Reason reason = Reason::early; ///< Of a communicator that is passed.
    std::string why;               ///< The same in words, for no_team.
    int calls = 0;                 ///< Blocking collectives before it has a team.
    corymb_team* team = nullptr;
    /// A team is used by one thread at a time. Programs that call two collectives of a communicator
    /// at once break MPI's rules; this keeps them from breaking memory.
    std::mutex use;
    Account account; ///< Of this rank's calls.
};

/// That of the communicator, made when first asked for. Null where MPI is not usable or the handle
/// is none; then MPI says so itself.
[[nodiscard]] Group* group_of(MPI_Comm comm) noexcept;

/// Whether several threads may be in MPI at once.
[[nodiscard]] bool has_many_threads() noexcept;

/// At MPI_Finalize: gives back all teams. What happens afterwards is the MPI's.
void give_back_teams() noexcept;

/// Teams that this process has.
[[nodiscard]] int team_count() noexcept;

/// Collective over the communicator: a team on which all ranks agree, or a reason on which they
/// agree (meeting.cpp).
void meet(Group& group) noexcept;

} // namespace corymb::mpi

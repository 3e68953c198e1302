// SPDX-License-Identifier: Apache-2.0
// How the ranks of a communicator agree who was faster, and what pays. All functions are collective
// over the communicator.
#pragma once

#include "communicator/communicator.hpp"

#include <cstdint>

namespace corymb::mpi {

/// Settles an operation whose trial is over.
void settle(Communicator& communicator, Choice& choice, Trial& trial, Operation operation,
            std::uint64_t bytes) noexcept;
/// In a nonblocking call whose trial is over, of a team that has a RequestBoard: waits for nobody.
/// True: the trial is settled before this call of all ranks. Throws std::bad_alloc.
[[nodiscard]] bool settle_on_board(Communicator& communicator, Trial& trial, Operation operation,
                                   std::uint64_t bytes);
/// At a synchronisation point: settles the operations that were tried in nonblocking calls.
void synchronise_requests(Communicator& communicator) noexcept;
/// Whether calls that wait for a plan have taken as long as it takes; their `wait` is then over.
void agree_that_plan_pays(Communicator& communicator, CostlyPlans::Wait& wait, Operation operation,
                          std::uint64_t bytes) noexcept;
/// Whether the calls before a team have taken as long on any rank as is wanted, or a rank has one
/// already (`has_team`). If not, the ranks agree again after twice as many.
[[nodiscard]] bool agree_that_long_enough(Communicator& communicator, bool& has_team) noexcept;
/// Compares the bytes sent to each rank with those expected from each. True: a rank expects another
/// number than is sent, so the lists are bounds. Throws std::bad_alloc.
[[nodiscard]] bool agree_that_lists_are_bounds(Communicator& communicator, Lists& lists,
                                               const std::uint64_t* sent,
                                               const std::uint64_t* expected);

} // namespace corymb::mpi

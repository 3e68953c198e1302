// SPDX-License-Identifier: Apache-2.0
// The call that a user of Team wants, checked and put into the engine's terms. Blocking,
// nonblocking and persistent operations share it.
#pragma once

#include "team/call_terms.hpp"
#include "team/lane.hpp"
#include "team/program.hpp"

#include <corymb/operation.hpp>
#include <corymb/operators.hpp>
#include <corymb/plan.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>

namespace corymb::detail {

struct Member;

struct Call {
    team::PlanKey key;
    team::Operands operands;
    team::CallTerms terms;
    std::size_t input_bytes = 0; ///< From the beginning of the buffer to the last that is read.
    std::size_t output_bytes = 0;
    std::shared_ptr<const std::size_t[]> layout; ///< Memory of the operands' layouts, or null.
    bool is_nothing = false;                     ///< There is nothing to move.
    std::uint32_t identity = 0;                  ///< Reduction::identity of the operation.
};

/// Throws Errc::invalid_argument for a rank out of range; `what` names its role ("root").
void check_rank(Rank rank, int size, const char* what);

/// Throws Errc::invalid_argument for arguments that break the contract of Team.
[[nodiscard]] Call collective_call(const Member& member, const CollectiveOperation& operation);
/// Makes a collective call for rank `rank` of `size` ranks that need not belong to a team.
[[nodiscard]] Call collective_call(Rank rank, int size, const CollectiveOperation& operation);
/// The part of `collective_call` for vector operations, without the operator.
[[nodiscard]] Call vector_call(Rank rank, int size, const CollectiveOperation& operation);

/// One message; `data` is only read by a send.
struct PairCall {
    team::PairKey key;
    team::Operands operands;
};
/// Throws Errc::invalid_argument for a peer out of range or arguments that break the contract of
/// Team.
[[nodiscard]] PairCall pair_call(const Member& member, team::Direction direction, void* data,
                                 std::size_t bytes, Rank peer);

} // namespace corymb::detail

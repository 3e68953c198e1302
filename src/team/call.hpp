// SPDX-License-Identifier: Apache-2.0
// What a caller of Team wants, checked and put into the engine's terms. The same for the blocking,
// nonblocking and persistent form of an operation.
#pragma once

#include "team/call_terms.hpp"
#include "team/lane.hpp"
#include "team/program.hpp"

#include <corymb/operators.hpp>
#include <corymb/plan.hpp>

#include <cstddef>
#include <memory>

namespace corymb::detail {

struct Member;
struct Wish;

struct Call {
    team::PlanKey key;
    team::Operands operands;
    team::CallTerms terms;
    std::size_t input_bytes = 0; ///< From the beginning of the buffer to the last that is read.
    std::size_t output_bytes = 0;
    std::shared_ptr<const std::size_t[]> layout; ///< What the operands' layouts point to, if any.
    bool is_nothing = false;                     ///< There is nothing to move.
};

/// Throws Errc::invalid_argument for a rank out of range; `what` names its role ("root").
void check_rank(Rank rank, int size, const char* what);

/// Throws Errc::invalid_argument for arguments that break the contract of Team.
[[nodiscard]] Call collective_call(const Member& member, const Wish& wish);
/// The same for one of `size` ranks that need not be those of a team.
[[nodiscard]] Call collective_call(Rank rank, int size, const Wish& wish);
/// The part of it for vector operations; without what concerns the operator.
[[nodiscard]] Call vector_call(Rank rank, int size, const Wish& wish);

/// One message; `data` is only read by a send.
struct PairCall {
    team::PairKey key;
    team::Operands operands;
};
/// Throws as above.
[[nodiscard]] PairCall pair_call(const Member& member, team::Direction direction, void* data,
                                 std::size_t bytes, Rank peer);

} // namespace corymb::detail

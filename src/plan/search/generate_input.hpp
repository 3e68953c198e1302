// SPDX-License-Identifier: Apache-2.0
// The ranks and the payload that a plan is generated for, with what it costs them.
#pragma once

#include "plan/cost_view.hpp"

#include <corymb/machine.hpp>
#include <corymb/plan.hpp>

#include <algorithm>
#include <cstdint>
#include <span>

namespace corymb {

/// The input of an algorithm family, and of bounds. References must outlive the call.
struct GenerateInput {
    const CostView& costs; ///< Costs between the ranks.
    const Machine* machine =
        nullptr; ///< For levels and clusters; without it all ranks are one group.
    std::span<const int> placement{}; ///< PU of each rank; needed with `machine`.
    Rank root = -1;                   ///< -1: the family's choice.
    std::uint64_t bytes = 8;          ///< Ignored for a barrier.
    bool ordered = false;             ///< Reductions combine in rank order.
    std::uint64_t seed = 1;
    std::uint64_t moves = 0; ///< Annealing moves; 0: `default_moves`.
    /// For bytes above `line_payload_bytes` one of cells and pull; the portfolio tries several.
    Mechanism via = Mechanism::line;
    std::uint32_t blocks = 1; ///< Blocks that a payload is cut in, for pipelining.
    /// No rank takes a part of what another has published: parts differ in length, so that readers
    /// do not know where theirs begins, or the plan becomes a part of another with publications.
    bool addresses_each = false;
};

/// Moves that annealing makes for a group of this size when none are asked for: less than a second
/// up to 512 ranks, a few seconds for thousands.
constexpr std::uint64_t default_moves(Rank size) noexcept {
    const auto ranks = static_cast<std::uint64_t>(size);
    return std::min<std::uint64_t>(30'000 * ranks, ranks <= 512 ? 2'000'000 : 4'000'000);
}

/// The moves that were asked for, or the default.
inline std::uint64_t moves_of(const GenerateInput& input) noexcept {
    return input.moves == 0 ? default_moves(input.costs.size()) : input.moves;
}

} // namespace corymb

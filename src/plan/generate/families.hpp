// SPDX-License-Identifier: Apache-2.0
// The algorithm families: from costs to plans. docs/plan-search.md describes each family.
#pragma once

#include "plan/cost_view.hpp"

#include <corymb/machine.hpp>
#include <corymb/plan.hpp>

#include <algorithm>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace corymb {

/// The input of a family. References must outlive the call.
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
};

/// An algorithm family. Both functions are pure: equal inputs give equal plans everywhere.
struct Family {
    std::string_view name;
    /// Whether the family has a plan for this operation and input.
    bool (*applies)(Collective op, const GenerateInput& input);
    /// The plan; its `algorithm` is `name`. Call only when `applies`.
    Plan (*make)(Collective op, const GenerateInput& input);
    /// The order of combining depends on nothing but the ranks' numbers and how many there are.
    bool reproducible = false;
    /// The family's plans write into the buffers of other ranks (Mechanism::push).
    bool pushes = false;
    /// In rank order its reduce_scatter combines the rank's own part with the parts of the ranks
    /// below, the nearest first, then with the parts of the ranks above. That order depends on
    /// nothing else, either.
    bool nearest_first = false;
    /// The cost of one store to many readers decides the time of its plans.
    bool publishes = false;
    /// Ranks of the family's plans meet on lines that both write (Mechanism::exchange).
    bool meets = false;
    /// Each rank serves one or two others, so that many blocks behind each other pay.
    bool pipelines = false;
    /// The family searches, which takes too long to be done for every way that a payload may
    /// travel.
    bool searches = false;
    /// Blocks in which a long payload is tried where there is no time to try several numbers.
    std::uint32_t plain_blocks = 1;
    /// In the family's barrier the root is the first to leave.
    bool root_leaves_first = false;
    /// Built as badly as it can be, for comparisons: another family is never slower.
    bool is_bad = false;
};

/// All families in portfolio order: baselines first, searched plans last.
std::span<const Family> families();

/// The family whose barrier a root leaves first.
const Family& barrier_that_a_root_leaves_first();

/// A makespan that no plan of point-to-point messages can beat in the model of `input.costs`, for
/// payloads of at most one line. 0 and "none" for one rank.
struct Bound {
    double value = 0;
    std::string kind; ///< "path", "growth", "cluster-growth", "two-class", "exact", "none".
};
Bound lower_bound(Collective op, const GenerateInput& input);

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

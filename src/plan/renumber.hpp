// SPDX-License-Identifier: Apache-2.0
// Makes one plan serve all roots that are alike: other ranks do its steps.
#pragma once

#include <corymb/plan.hpp>

#include <optional>
#include <span>
#include <vector>

namespace corymb::plan {

/// A renumbering of ranks that a machine's model cannot tell from the ranks' own numbers.
struct Likeness {
    Rank like = 0;             ///< The rank that stands for all that are alike.
    std::vector<Rank> rank_of; ///< The rank that takes the place of each; of `like`: the one asked.
};

/// The plan in which rank `rank_of[r]` does the steps that rank r does in `plan`, with its parts
/// and its root. `rank_of` is a permutation of the ranks. Nothing when a range of several parts
/// would come apart. The result is not proven, and rank order is lost: see `check_plan`. O(steps).
[[nodiscard]] std::optional<Plan> renumbered(const Plan& plan, std::span<const Rank> rank_of);

} // namespace corymb::plan

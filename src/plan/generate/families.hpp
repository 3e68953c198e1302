// SPDX-License-Identifier: Apache-2.0
// The algorithm families: from costs to plans. docs/explain/plan-search.md describes each family.
#pragma once

#include "plan/search/generate_input.hpp"

#include <corymb/plan.hpp>

#include <cstdint>
#include <span>
#include <string_view>

namespace corymb {

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
    /// The family searches, which takes too long to be done for every way that a payload may
    /// travel.
    bool searches = false;
    /// Blocks in which a long payload is tried where there is no time to try several numbers.
    std::uint32_t plain_blocks = 1;
    /// In the family's barrier the root is the first to leave.
    bool root_leaves_first = false;
    /// Made for comparisons: plans of other families are as fast or hardly slower. Tried when it is
    /// named, or when a request is exhaustive.
    bool is_baseline = false;
};

/// All families in portfolio order: simple ones first, searched plans last.
std::span<const Family> families();

} // namespace corymb

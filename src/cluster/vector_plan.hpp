// SPDX-License-Identifier: Apache-2.0
// Data beside a plan for several nodes for parts that differ in length, seen by one rank.
#pragma once

#include "cluster/node_program.hpp"
#include "plan/part_names.hpp"

#include <corymb/plan.hpp>

#include <cstddef>
#include <cstdint>
#include <vector>

namespace corymb::cluster {

struct VectorPlan {
    Collective op = Collective::allgather;
    Rank root = 0;
    std::vector<plan::PartName> scratch; ///< The part in each place of this rank's scratch.
    bool has_runs_of_input = false;      ///< A step names parts of the input side by side.
    bool has_runs_of_output = false;
    /// Ranks of the node tell each other the lengths that they know before they run the plan:
    /// scratch of one has parts that others give or get.
    bool tells = false;
    bool pulls = false; ///< Ranks of a node can copy out of each other's memory.
};

/// Throws Errc::invalid_plan for a plan that cannot serve parts of different lengths, or whose
/// scratch on a node holds a part that no rank of the node gives or gets, so that none knows its
/// length.
void check_vector_plan(const Plan& plan, const std::vector<int>& node_of_rank);

/// The vector plan of a part that has passed check_vector_plan.
[[nodiscard]] VectorPlan vector_plan_of(const NodePart& part, const Home& home, Rank rank);

/// How the ranks of one node tell each other lengths, any number of them: an allgather. `number`
/// identifies it among the plans of a lane.
struct TellingPlan {
    Plan plan;
    std::uint64_t number;
};
[[nodiscard]] TellingPlan telling_plan(std::size_t ranks, bool can_pull);

} // namespace corymb::cluster

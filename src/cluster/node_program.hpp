// SPDX-License-Identifier: Apache-2.0
// A plan for several nodes, compiled for one rank: what the engine of its node runs, and the
// messages of the network in between.
#pragma once

#include "team/compile.hpp"
#include "team/team_shared.hpp"

#include <corymb/plan.hpp>

#include <cstddef>
#include <cstdint>
#include <vector>

namespace corymb::cluster {

/// Who is where, seen by one rank.
struct Home {
    std::vector<int> node_of_rank;
    std::vector<Rank> members;    ///< Of this rank's node, increasing: their ranks in the team.
    std::vector<Rank> local_rank; ///< By rank: its place among the members; -1: on another node.

    Home(std::vector<int> nodes, Rank rank);
    [[nodiscard]] bool is_far(Rank rank) const {
        return local_rank[static_cast<std::size_t>(rank)] < 0;
    }
};

/// A step with a rank on another node: signal, wait, send, recv or fold.
struct FarStep {
    StepKind kind = StepKind::signal;
    bool incoming_first = false;
    bool begins_group = false; ///< A receive: those up to the next beginning are posted at once.
    Rank peer = -1;
    team::Places to{};
    team::Places from{};
    std::size_t after = 0; ///< So many steps of the node come before it.
};

[[nodiscard]] constexpr bool is_receive(StepKind kind) noexcept {
    return kind == StepKind::wait || kind == StepKind::recv || kind == StepKind::fold;
}

struct NodeProgram {
    team::Program<team::Env> local;
    std::vector<FarStep> far;
};

/// What the plan says to the ranks of one node, who count themselves from 0.
[[nodiscard]] Plan plan_of_node(const Plan& plan, const Home& home);

/// The far steps of `rank`. Throws Errc::unsupported for a step that reaches another node other
/// than by a message of the network or a notification.
[[nodiscard]] std::vector<FarStep> far_steps(const Plan& plan, const Home& home, Rank rank);

} // namespace corymb::cluster

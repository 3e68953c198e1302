// SPDX-License-Identifier: Apache-2.0
// A plan for several nodes as one node runs it: steps within the node for the engine, and the
// messages of the network in between.
#pragma once

#include "cluster/node_part.hpp"
#include "team/call.hpp"
#include "team/program.hpp"
#include "team/team_shared.hpp"

#include <corymb/plan.hpp>

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace corymb::cluster {

/// The nodes of all ranks, seen by one rank.
struct Home {
    std::vector<int> node_of_rank;
    std::vector<Rank> members;    ///< Ranks of this rank's node in the team, increasing.
    std::vector<Rank> local_rank; ///< By rank: its index among the members; -1: on another node.

    Home(std::vector<int> nodes, Rank rank);
    [[nodiscard]] bool is_far(Rank rank) const {
        return local_rank[static_cast<std::size_t>(rank)] < 0;
    }
};

/// A step with a rank on another node: signal, wait, send, recv or fold.
struct FarStep {
    StepKind kind = StepKind::signal;
    bool incoming_first = false;
    /// Set in a receive: all receives up to the next beginning are posted at once.
    bool begins_group = false;
    Rank peer = -1;
    team::Places to{};
    team::Places from{};
};

[[nodiscard]] constexpr bool is_receive(StepKind kind) noexcept {
    return kind == StepKind::wait || kind == StepKind::recv || kind == StepKind::fold;
}

/// How many receives are posted at once, from a receive that begins a group.
[[nodiscard]] inline std::size_t group_size(std::span<const FarStep> far) noexcept {
    std::size_t count = 1;
    while (count < far.size() && is_receive(far[count].kind) && !far[count].begins_group) {
        ++count;
    }
    return count;
}

/// The plan of a node's part for its ranks, which count themselves from 0 on the node. Steps with
/// ranks on other nodes, by Mechanism::network, name these as in the whole team.
[[nodiscard]] Plan plan_of_node(NodePart&& part, const Home& home);

/// Throws Errc::unsupported for a step of any rank that reaches another node other than by a
/// message of the network or a notification.
void check_far_steps(const Plan& plan, const std::vector<int>& node_of_rank);

/// The far steps of `rank`, of a plan that has passed this check.
[[nodiscard]] std::vector<FarStep> far_steps(const NodePart& part, const Home& home, Rank rank);

} // namespace corymb::cluster

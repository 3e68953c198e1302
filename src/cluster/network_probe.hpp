// SPDX-License-Identifier: Apache-2.0
// Who measures a network with whom, and how all come to know what was found.
#pragma once

#include <corymb/cluster_team.hpp>

#include <vector>

namespace corymb::cluster {

/// Ranks of nodes 0 and 1 that send to each other, the i-th to the i-th; as many as both have.
struct Pairs {
    std::vector<Rank> askers;
    std::vector<Rank> answerers;
};
[[nodiscard]] Pairs pairs_of(const std::vector<int>& node_of_rank);

/// What rank `from` says, on all ranks. Collective.
[[nodiscard]] Network shared_network(Carrier& carrier, const std::vector<int>& node_of_rank,
                                     Rank rank, Rank from, Network network);

} // namespace corymb::cluster

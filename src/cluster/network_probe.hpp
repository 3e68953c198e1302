// SPDX-License-Identifier: Apache-2.0
// Who measures a network with whom, and how all come to know what was found.
#pragma once

#include <corymb/cluster_team.hpp>

#include <string>
#include <vector>

namespace corymb::cluster {

/// Ranks of nodes 0 and 1 that send to each other, the i-th to the i-th; as many as both have.
struct Pairs {
    std::vector<Rank> askers;
    std::vector<Rank> answerers;
};
[[nodiscard]] Pairs pairs_of(const std::vector<int>& node_of_rank);

[[nodiscard]] int node_count(const std::vector<int>& node_of_rank);

/// What one rank tells all others about the network: its costs, or why it does not know them.
struct Word {
    bool is_known = false;
    std::string text;
};
/// What rank `from` of `size` says, on all ranks. Collective.
[[nodiscard]] Word shared_word(Carrier& carrier, Rank size, Rank rank, Rank from, const Word& word);

} // namespace corymb::cluster

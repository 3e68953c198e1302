// SPDX-License-Identifier: Apache-2.0
// The tree by which rank 0 tells others what concerns all of them or their nodes: a binomial one
// over the first ranks of the nodes, of which each has nodes side by side below it, and in each
// node one over its ranks.
#pragma once

#include <corymb/plan.hpp>

#include <cstddef>
#include <vector>

namespace corymb::cluster {

/// Places of nodes in the order of their first ranks.
struct NodeRange {
    std::size_t first = 0;
    std::size_t end = 0;
};

/// Seen by one rank.
struct NodeTree {
    struct Child {
        Rank rank;
        NodeRange nodes; ///< Its own one and those below it.
    };

    NodeTree(const std::vector<int>& node_of_rank, Rank rank);

    std::vector<int> order;      ///< Node numbers by place.
    Rank parent = -1;            ///< Of rank 0: none.
    NodeRange nodes;             ///< This rank's node and those below it, or its node alone.
    std::vector<Child> children; ///< Those with the most nodes first, then those of its own node.
};

} // namespace corymb::cluster

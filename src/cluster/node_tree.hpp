// SPDX-License-Identifier: Apache-2.0
// The tree through which rank 0 informs the others: a binomial tree over the first ranks of the
// nodes, of which each has nodes side by side below it, and in each node a tree over its ranks.
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
        NodeRange nodes; ///< The child's node and the nodes below it.
    };

    NodeTree(const std::vector<int>& node_of_rank, Rank rank);

    std::vector<int> order; ///< Node numbers by place.
    Rank parent = -1;       ///< Parent; rank 0 has none.
    NodeRange nodes;        ///< This rank's node and the nodes below it, or its node alone.
    /// Children with the most nodes first, then the ranks of its own node.
    std::vector<Child> children;
};

} // namespace corymb::cluster

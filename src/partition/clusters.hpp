// SPDX-License-Identifier: Apache-2.0
// Coarser graphs: clusters of vertices, and the graph whose vertices they are.
#pragma once

#include "partition/exchange.hpp"

#include <corymb/shared_graph.hpp>
#include <corymb/team.hpp>

#include <cstdint>
#include <vector>

namespace corymb::partition {

/// Each vertex is in one cluster, which is named after a vertex of the whole graph.
struct Clusters {
    std::vector<Vertex> names;   ///< By own vertex and ghost.
    std::vector<Weight> weights; ///< By own vertex that a cluster is named after.
};

/// Collective. Clusters of at most `weight_most`, unless a vertex is heavier, by size-constrained
/// label propagation: Meyerhenke, Sanders, Schulz, "Parallel graph partitioning for complex
/// networks", IEEE TPDS 28, 2017. The owner of a cluster's name decides who may join.
[[nodiscard]] Clusters find_clusters(Team& team, const SharedGraph& graph, Weight weight_most,
                                     std::uint64_t seed);

struct Coarsened {
    SharedGraph graph;
    std::vector<Vertex> vertices; ///< The coarse vertex, in the whole graph, of each own one.
};

/// Collective.
[[nodiscard]] Coarsened contract(Team& team, const SharedGraph& graph, Clusters clusters);

} // namespace corymb::partition

// SPDX-License-Identifier: Apache-2.0
// Dividing a graph that is small enough for one rank: the coarsest one.
#pragma once

#include "base/random.hpp"
#include "partition/exchange.hpp"

#include <corymb/shared_graph.hpp>
#include <corymb/team.hpp>

#include <cstdint>
#include <vector>

namespace corymb::partition {

/// A whole graph in compressed rows.
struct SmallGraph {
    std::vector<std::uint32_t> rows{0}; ///< Invariant: one more than vertices.
    std::vector<Vertex> targets;
    std::vector<Weight> weights;        ///< As `targets`.
    std::vector<Weight> vertex_weights; ///< Invariant: as many as vertices.
    Weight total = 0;                   ///< All vertices together.

    [[nodiscard]] Vertex size() const noexcept {
        return static_cast<Vertex>(vertex_weights.size());
    }
    /// visit(neighbour, weight) for each.
    template <class Visit>
    void for_each_neighbour(Vertex vertex, Visit&& visit) const {
        for (std::uint32_t arc = rows[vertex]; arc < rows[vertex + 1]; ++arc) {
            visit(targets[arc], weights[arc]);
        }
    }
};

using Side = std::uint8_t; ///< 0 or 1.

/// What the two sides of a graph are to weigh.
struct Halves {
    Weight goal = 0; ///< Side 0's.
    Weight most[2] = {0, 0};
};

/// Two sides with a small cut: the graph is coarsened by heavy-edge matching, sides grow from
/// vertices of the coarsest one, and the best are refined on each level (Karypis, Kumar, SIAM J.
/// Sci. Comput. 20, 1998).
[[nodiscard]] std::vector<Side> bisect(const SmallGraph& graph, const Halves& halves,
                                       Random& random);

/// Moves vertices until the cut no longer shrinks: Fiduccia, Mattheyses, DAC 1982.
void refine_sides(const SmallGraph& graph, const Halves& halves, std::vector<Side>& sides);

/// Parts by bisections of bisections. A part is to weigh at most `limit`.
[[nodiscard]] std::vector<std::uint32_t> divide(const SmallGraph& graph, int parts, Weight limit,
                                                Random& random);

/// Collective. Each rank divides the whole graph with seeds of its own, and the best parts win: a
/// part for each own vertex.
[[nodiscard]] std::vector<std::uint32_t>
divide_coarsest(Team& team, const SharedGraph& graph, int parts, Weight limit, std::uint64_t seed);

} // namespace corymb::partition

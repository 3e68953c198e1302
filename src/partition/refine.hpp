// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "partition/exchange.hpp"

#include <corymb/shared_graph.hpp>
#include <corymb/team.hpp>

#include <cstdint>
#include <vector>

namespace corymb::partition {

/// What the parts of a graph are and may be.
struct Assignment {
    std::vector<std::uint32_t> of; ///< By own vertex and ghost.
    std::vector<Weight> weights;   ///< By part, over all ranks.
    Weight limit = 0;              ///< A part may weigh so much.
    Weight cut = 0;
};

/// Collective. Ghosts, weights and cut of the parts of own vertices.
void count(Team& team, const SharedGraph& graph, Assignment& parts);

/// Collective. Moves vertices to other parts: first until no part exceeds the limit, if that can
/// be, then while the cut shrinks. Each rank moves its own vertices, while those of others stay;
/// rounds that have made the cut larger are taken back.
void refine(Team& team, const SharedGraph& graph, Assignment& parts, std::uint64_t seed);

} // namespace corymb::partition

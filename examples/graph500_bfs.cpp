// SPDX-License-Identifier: Apache-2.0
// Breadth-first search over ranks, validated as Graph500 does: parents form a tree, and depths of
// neighbours differ by 1 at most.
#include <corymb/shared_graph.hpp>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <random>
#include <vector>

using Graph = corymb::SharedGraph;
using Vertex = Graph::Vertex;
constexpr int unseen = -2; // More than 1 from every depth.

/// Sets depths of own vertices and ghosts below those of depth 0, and parents of own vertices.
static void search(corymb::Team& team, const Graph& graph, std::vector<int>& depth,
                   std::vector<Vertex>& parent) {
    for (int level = 0, found = 1; found > 0; ++level) {
        graph.update_ghosts<int>(team, depth); // One message to each neighbouring rank.
        found = 0;
        for (Vertex own = 0; own < graph.own(); ++own) {
            for (const Vertex from : graph.neighbours(own)) {
                if (depth[own] == unseen && depth[from] == level) {
                    depth[own] = level + 1;
                    parent[own] = from;
                    ++found;
                }
            }
        }
        found = team.allreduce(found);
    }
}

int main() {
    int totals[2] = {0, 0}; // Vertices that were reached, and faults.
    corymb::threads(4, [&](corymb::Team& team) {
        std::mt19937 random(static_cast<unsigned>(team.rank()));
        std::uniform_int_distribution<Vertex> any(0, 19'999);
        std::vector<Graph::Edge> edges(20'000);
        std::ranges::generate(edges, [&] { return Graph::Edge{any(random), any(random)}; });
        const Graph graph = Graph::from_edges(team, 20'000, edges);
        std::vector<int> depth(graph.own() + graph.ghosts(), unseen);
        std::vector<Vertex> parent(graph.own());
        depth[0] = team.rank() == 0 ? 0 : unseen; // The root is vertex 0.
        search(team, graph, depth, parent);
        int counts[2] = {0, 0};
        for (Vertex own = 0; own < graph.own(); ++own) {
            counts[0] += depth[own] != unseen;
            counts[1] += depth[own] > 0 && depth[parent[own]] != depth[own] - 1;
            for (const Vertex to : graph.neighbours(own)) {
                counts[1] += std::abs(depth[to] - depth[own]) > 1;
            }
        }
        team.reduce(counts, totals); // Written by rank 0 alone.
    });
    std::printf("%d vertices reached, %d faults\n", totals[0], totals[1]);
    return totals[1] == 0 ? 0 : 1;
}

// SPDX-License-Identifier: Apache-2.0
#include "partition/clusters.hpp"
#include "partition/flat_table.hpp"
#include "partition/graph_builder.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <span>
#include <utility>

namespace corymb::partition {

namespace {

/// Collective. Numbers the clusters that have members, rank by rank. Changes the names of own
/// vertices to numbers, and weights to those of the rank's clusters in their order.
std::vector<Vertex> number(Team& team, const SharedGraph& graph, Clusters& clusters) {
    std::vector<Vertex> numbers(graph.own());
    std::vector<Vertex> ranges{0};
    const auto count = [&](const std::vector<Vertex>& named_by_others) {
        for (const Vertex name : named_by_others) {
            numbers[name - graph.first()] = 1;
        }
        for (Vertex own = 0; own < graph.own(); ++own) {
            if (clusters.names[own] - graph.first() < graph.own()) {
                numbers[clusters.names[own] - graph.first()] = 1;
            }
        }
        Vertex used = 0;
        for (Vertex own = 0; own < graph.own(); ++own) {
            if (numbers[own] != 0) {
                clusters.weights[used] = clusters.weights[own];
                numbers[own] = used++;
            }
        }
        clusters.weights.resize(used);
        clusters.weights.shrink_to_fit();
        std::vector<Vertex> counts(size_of(team));
        team.allgather(std::span<const Vertex>(&used, 1), counts);
        for (const Vertex each : counts) {
            ranges.push_back(ranges.back() + each);
        }
    };
    const auto own_rank = static_cast<std::size_t>(team.rank());
    const auto coarse = fetch<Vertex>(
        team, graph, std::span<const Vertex>(clusters.names).first(graph.own()),
        [&](Vertex own) { return ranges[own_rank] + numbers[own]; }, count);
    std::copy(coarse.begin(), coarse.end(), clusters.names.begin());
    return ranges;
}

/// Collective. Keeps a coarse graph of so many vertices sparse.
Thinning thinning(Team& team, const SharedGraph& graph, const Clusters& clusters, Vertex coarse) {
    std::array<Weight, 2> sums{0, 0}; // Arcs of the graph, weight of those between clusters.
    for (Vertex own = 0; own < graph.own(); ++own) {
        graph.for_each_neighbour(own, [&](Vertex to, Weight weight) {
            ++sums[0];
            sums[1] += clusters.names[to] == clusters.names[own] ? 0 : weight;
        });
    }
    team.allreduce(sums, sums);
    const auto kept =
        std::max({static_cast<Weight>(static_cast<double>(sums[0]) * tuning::edges_kept),
                  Weight{coarse} * tuning::neighbours_kept, Weight{1}});
    return {std::max<Weight>(sums[1] / kept, 1)};
}

} // namespace

Coarsened contract(Team& team, const SharedGraph& graph, Clusters clusters) {
    detail::GraphBuilder builder(team, number(team, graph, clusters));
    graph.update_ghosts<Vertex>(team, clusters.names);
    builder.reserve(graph.ends()); // More than it will have, but not written to.
    const Thinning thin = thinning(team, graph, clusters, builder.graph().vertices());
    detail::WeightList weights;
    for (const Weight weight : clusters.weights) {
        weights.push_back(weight);
    }
    clusters.weights = {};
    // Own vertices by clusters.
    std::vector<std::pair<Vertex, Vertex>> members;
    members.reserve(graph.own());
    for (Vertex own = 0; own < graph.own(); ++own) {
        members.emplace_back(clusters.names[own], own);
    }
    std::sort(members.begin(), members.end());
    FlatTable<Weight> sums;
    const auto emit = [&](const Slice& slice, Outbox<WeightedArc>& outbox) {
        for (std::size_t rank = 0; rank < outbox.size(); ++rank) {
            auto at = std::lower_bound(members.begin(), members.end(),
                                       std::pair(slice.begin[rank], Vertex{0}));
            while (at != members.end() && at->first < slice.end[rank]) {
                const Vertex from = at->first;
                sums.clear();
                for (; at != members.end() && at->first == from; ++at) {
                    graph.for_each_neighbour(at->second, [&](Vertex to, Weight weight) {
                        if (clusters.names[to] != from) {
                            sums[clusters.names[to]] += weight;
                        }
                    });
                }
                sums.for_each(
                    [&](Vertex to, Weight weight) { outbox[rank].push_back({from, to, weight}); });
            }
        }
    };
    build_rows<WeightedArc>(team, builder, emit, thin);
    members = {};
    clusters.names.resize(graph.own());
    clusters.names.shrink_to_fit();
    return {builder.finish(team, std::move(weights)), std::move(clusters.names)};
}

} // namespace corymb::partition

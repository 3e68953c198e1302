// SPDX-License-Identifier: Apache-2.0
#include <corymb/partition.hpp>

#include "base/clock.hpp"
#include "partition/clusters.hpp"
#include "partition/collective.hpp"
#include "partition/refine.hpp"
#include "partition/small_graph.hpp"
#include "partition/tuning.hpp"

#include <corymb/error.hpp>
#include <corymb/operators.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <span>
#include <utility>

namespace corymb {

namespace {

using partition::Assignment;
using partition::Coarsened;
using Vertex = SharedGraph::Vertex;
using Weight = SharedGraph::Weight;

void check(const PartitionOptions& options) {
    if (options.parts < 1 || options.parts > 1 << 20) {
        throw Error(Errc::invalid_argument, "parts must be from 1 to 2^20");
    }
    if (!(options.imbalance >= 0) || options.imbalance > 1000) {
        throw Error(Errc::invalid_argument, "the imbalance must be from 0 to 1000");
    }
}

/// (1 + imbalance) times the average, which is rounded up.
Weight limit_of(Weight total, const PartitionOptions& options) {
    const Weight average = (total + options.parts - 1) / options.parts;
    const double room = static_cast<double>(average) * options.imbalance;
    return average + static_cast<Weight>(std::min(room, static_cast<double>(total)));
}

/// Collective. Ever coarser graphs, the coarsest at the end.
std::vector<Coarsened> coarsen(Team& team, const SharedGraph& graph,
                               const PartitionOptions& options) {
    namespace tuning = partition::tuning;
    std::vector<Coarsened> levels;
    const std::uint64_t goal = std::max<std::uint64_t>(std::uint64_t{tuning::vertices_of_a_part} *
                                                           static_cast<unsigned>(options.parts),
                                                       tuning::coarsest_least);
    const SharedGraph* finest = &graph;
    while (finest->vertices() > goal) {
        const Weight total = finest->total_weight();
        // A dense graph only loses edges when clusters are large.
        const Weight vertices =
            std::max<Weight>(tuning::vertices_of_a_cluster,
                             static_cast<Weight>(2 * finest->edges() / finest->vertices()));
        const Weight of_level = std::max<Weight>(total / finest->vertices(), 1) * vertices;
        const Weight of_goal = total * 3 / (2 * static_cast<Weight>(goal));
        auto clusters = partition::find_clusters(team, *finest,
                                                 std::max<Weight>(std::min(of_level, of_goal), 1),
                                                 options.seed + levels.size());
        Coarsened level = partition::contract(team, *finest, std::move(clusters));
        const bool is_last = level.graph.vertices() >=
                             tuning::shrinks_least * static_cast<double>(finest->vertices());
        levels.push_back(std::move(level));
        finest = &levels.back().graph;
        if (is_last) {
            break;
        }
    }
    return levels;
}

/// Collective. The parts of own vertices from those of the coarse vertices that they belong to.
std::vector<std::uint32_t> project(Team& team, const Coarsened& level,
                                   const std::vector<std::uint32_t>& coarse) {
    return partition::fetch<std::uint32_t>(
        team, level.graph, level.vertices, [&](Vertex own) { return coarse[own]; },
        [](const std::vector<Vertex>&) {});
}

Partition divided(Team& team, const SharedGraph& graph, const PartitionOptions& options) {
    Partition result;
    PartitionReport& report = result.report;
    report.limit = limit_of(graph.total_weight(), options);
    const std::int64_t begin = now_ns();
    std::vector<Coarsened> levels = coarsen(team, graph, options);
    const std::int64_t coarsened = now_ns();
    const SharedGraph& coarsest = levels.empty() ? graph : levels.back().graph;
    report.levels = static_cast<int>(levels.size()) + 1;
    report.coarsest = coarsest.vertices();
    Assignment parts;
    parts.limit = report.limit;
    parts.weights.resize(static_cast<std::size_t>(options.parts));
    parts.of =
        partition::divide_coarsest(team, coarsest, options.parts, report.limit, options.seed);
    const std::int64_t coarsest_done = now_ns();
    for (;;) {
        const SharedGraph& finest = levels.empty() ? graph : levels.back().graph;
        parts.of.resize(std::size_t{finest.own()} + finest.ghosts());
        partition::count(team, finest, parts);
        partition::refine(team, finest, parts, options.seed + levels.size());
        parts.of.resize(finest.own());
        if (levels.empty()) {
            break;
        }
        parts.of = project(team, levels.back(), parts.of);
        levels.pop_back();
    }
    report.cut = parts.cut;
    report.heaviest = *std::max_element(parts.weights.begin(), parts.weights.end());
    report.coarsen_s = static_cast<double>(coarsened - begin) * 1e-9;
    report.divide_s = static_cast<double>(coarsest_done - coarsened) * 1e-9;
    report.refine_s = static_cast<double>(now_ns() - coarsest_done) * 1e-9;
    result.parts = std::move(parts.of);
    return result;
}

} // namespace

Partition partition_graph(Team& team, const SharedGraph& graph, const PartitionOptions& options) {
    check(options);
    return partition::collective(team, [&] { return divided(team, graph, options); });
}

} // namespace corymb

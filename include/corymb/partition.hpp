// SPDX-License-Identifier: Apache-2.0
// Divides a graph into parts of about equal weight such that few edges lie between parts.
// docs/reference/partition.md says how.
#pragma once

#include <corymb/export.hpp>
#include <corymb/shared_graph.hpp>
#include <corymb/team.hpp>

#include <cstdint>
#include <vector>

namespace corymb {

struct PartitionOptions {
    int parts = 2;
    /// No part is to be heavier than (1 + imbalance) times the average, rounded up.
    double imbalance = 0.03;
    /// Equal seeds, graphs and numbers of ranks give equal partitions.
    std::uint64_t seed = 1;
};

struct PartitionReport {
    SharedGraph::Weight cut = 0;      ///< Weight of the edges between parts.
    SharedGraph::Weight heaviest = 0; ///< Weight of the heaviest part.
    SharedGraph::Weight limit = 0;    ///< What a part may weigh.
    int levels = 0; ///< Graphs that were divided, from the finest to the coarsest.
    SharedGraph::Vertex coarsest = 0; ///< Vertices of the last one.
    double coarsen_s = 0;             ///< Seconds on this rank.
    double divide_s = 0;              ///< To divide the coarsest graph.
    double refine_s = 0;

    /// The limit holds. A limit that cannot hold, because single vertices are too heavy, does not.
    [[nodiscard]] bool is_balanced() const noexcept { return heaviest <= limit; }
};

/// The result on one rank.
struct Partition {
    std::vector<std::uint32_t> parts; ///< By own vertex: 0 to PartitionOptions::parts - 1.
    PartitionReport report;           ///< Equal on all ranks but for the seconds.
};

/// Collective, with equal options on all ranks. Multilevel: clusters of vertices become vertices of
/// a coarser graph until it is small, that is divided, and the parts are refined level by level.
/// No rank holds more of a graph than its part, but for the coarsest one.
///
/// Throws Errc::invalid_argument for less than 1 or more than 2^20 parts and an imbalance that is
/// not from 0 to 1000; otherwise as Team's functions.
[[nodiscard]] CORYMB_EXPORT Partition partition_graph(Team& team, const SharedGraph& graph,
                                                      const PartitionOptions& options = {});

} // namespace corymb

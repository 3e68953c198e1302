// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/random.hpp"
#include "partition/exchange.hpp"
#include "partition/tuning.hpp"

#include <corymb/shared_graph.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

namespace corymb::partition {

/// What a vertex or an edge may weigh, and all of a graph together. Sums of a few times as much are
/// computed, also in floating point.
inline constexpr SharedGraph::Weight weight_most = SharedGraph::Weight{1} << 40;
inline constexpr double total_most = 0x1p52;

} // namespace corymb::partition

namespace corymb::detail {

/// Puts one rank's part of a graph together: rows in their order, then everything about ghosts.
class GraphBuilder {
public:
    using Vertex = SharedGraph::Vertex;
    using Weight = SharedGraph::Weight;

    /// `ranges` as SharedGraph::ranges.
    GraphBuilder(const Team& team, std::vector<Vertex> ranges);

    [[nodiscard]] const SharedGraph& graph() const noexcept { return graph_; } ///< So far.
    void reserve(std::size_t arcs) {
        graph_.targets_.reserve(arcs);
        graph_.weights_.reserve(arcs);
    }
    /// A neighbour, in the whole graph, of the next own vertex.
    void add_arc(Vertex to, Weight weight) {
        graph_.targets_.push_back(to);
        graph_.weights_.push_back(weight);
    }
    /// The row is complete. Its neighbours were ascending. Throws Errc::unsupported.
    void end_row();
    /// Collective. All rows are complete.
    [[nodiscard]] SharedGraph finish(Team& team, WeightList vertex_weights);

private:
    void find_ghosts();
    void show_ghosts(Team& team);

    SharedGraph graph_;
};

} // namespace corymb::detail

namespace corymb::partition {

/// An arc on its way to the owner of `from`, both in the whole graph. `Arc` is one of two: weights
/// of equal ones add up, or an arc that comes several times counts once.
struct WeightedArc {
    Vertex from;
    Vertex to;
    Weight weight;
};
struct PlainArc {
    Vertex from;
    Vertex to;
};

/// A part of each rank's range: their rows are complete after the same round.
struct Slice {
    std::vector<Vertex> begin; ///< By rank.
    std::vector<Vertex> end;

    Slice(std::span<const Vertex> ranges, int round, int rounds) {
        for (std::size_t rank = 0; rank + 1 < ranges.size(); ++rank) {
            const std::uint64_t length = ranges[rank + 1] - ranges[rank];
            const auto at = [&](int part) {
                return ranges[rank] + static_cast<Vertex>(length * static_cast<unsigned>(part) /
                                                          static_cast<unsigned>(rounds));
            };
            begin.push_back(at(round));
            end.push_back(at(round + 1));
        }
    }
};

/// Leaves light edges out by chance, and makes the others that are as light heavier, such that the
/// expected weight of each stays: Gottesbueren, Maas, Rosch, Sanders, Seemaier, "Linear-time
/// multilevel graph partitioning via edge sparsification", ESA 2025. Both ends of an edge draw the
/// same number.
struct Thinning {
    Weight threshold = 1; ///< Edges that are as heavy always stay.

    /// The weight that the edge has now; 0: it is left out.
    [[nodiscard]] Weight operator()(Vertex one, Vertex other, Weight weight) const noexcept {
        if (weight >= threshold) {
            return weight;
        }
        Random random((std::uint64_t{std::min(one, other)} << 32) | std::max(one, other));
        return random.next() % static_cast<std::uint64_t>(threshold) <
                       static_cast<std::uint64_t>(weight)
                   ? threshold
                   : 0;
    }
};

/// Adds the rows of [begin, end) from all their arcs, in any order.
template <class Arc>
void add_rows(detail::GraphBuilder& builder, const std::vector<Arc>& arcs, Vertex begin, Vertex end,
              const Thinning& thin) {
    std::vector<std::uint32_t> places(end - begin + 1);
    for (const Arc& arc : arcs) {
        ++places[arc.from - begin + 1];
    }
    for (Vertex row = 0; row < end - begin; ++row) {
        places[row + 1] += places[row];
    }
    constexpr bool has_weights = requires(Arc arc) { arc.weight; };
    using Entry = std::conditional_t<has_weights, std::pair<Vertex, Weight>, Vertex>;
    std::vector<Entry> sorted(arcs.size());
    std::vector<std::uint32_t> next(places.begin(), places.end() - 1);
    for (const Arc& arc : arcs) {
        if constexpr (has_weights) {
            sorted[next[arc.from - begin]++] = {arc.to, arc.weight};
        } else {
            sorted[next[arc.from - begin]++] = arc.to;
        }
    }
    for (Vertex row = 0; row < end - begin; ++row) {
        const auto first = sorted.begin() + places[row];
        const auto last = sorted.begin() + places[row + 1];
        std::sort(first, last);
        for (auto at = first; at != last;) {
            if constexpr (has_weights) {
                const Vertex to = at->first;
                Weight sum = 0;
                for (; at != last && at->first == to; ++at) {
                    sum += at->second;
                }
                sum = thin(begin + row, to, sum);
                if (sum > 0) {
                    builder.add_arc(to, sum);
                }
            } else {
                builder.add_arc(*at, 1);
                at = std::upper_bound(at, last, *at);
            }
        }
        builder.end_row();
    }
}

/// Collective. Adds all rows: emit(slice, outbox) puts those of this rank's arcs whose rows are in
/// the slice into the outbox of their owners.
template <class Arc, class Emit>
void build_rows(Team& team, detail::GraphBuilder& builder, Emit&& emit, const Thinning& thin = {}) {
    const auto own = static_cast<std::size_t>(team.rank());
    Outbox<Arc> outbox(size_of(team));
    for (int round = 0; round < tuning::build_rounds; ++round) {
        const Slice slice(builder.graph().ranges(), round, tuning::build_rounds);
        emit(slice, outbox);
        add_rows(builder, exchange(team, outbox).items, slice.begin[own], slice.end[own], thin);
    }
}

} // namespace corymb::partition

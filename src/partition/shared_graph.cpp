// SPDX-License-Identifier: Apache-2.0
#include "partition/collective.hpp"
#include "partition/flat_table.hpp"
#include "partition/graph_builder.hpp"

#include <corymb/error.hpp>
#include <corymb/operators.hpp>

#include <algorithm>
#include <limits>
#include <numeric>
#include <string>

namespace corymb {

using partition::exchange;
using partition::Outbox;
using partition::size_of;

Rank SharedGraph::owner(Vertex global) const noexcept {
    const auto behind = std::upper_bound(ranges_.begin(), ranges_.end() - 1, global);
    return static_cast<Rank>(behind - ranges_.begin()) - 1;
}

void SharedGraph::require_size(std::size_t count) const {
    if (count != own_ + ghosts_.size()) {
        throw Error(Errc::invalid_argument, "values for " + std::to_string(own_ + ghosts_.size()) +
                                                " vertices and ghosts are needed, not " +
                                                std::to_string(count));
    }
}

SharedGraph::Bytes SharedGraph::bytes() const noexcept {
    return {sizeof(Vertex) * (rows_.size() + targets_.size()) + weights_.bytes() +
                vertex_weights_.bytes(),
            sizeof(Vertex) * (ranges_.size() + ghosts_.size() + shown_.size()) +
                sizeof(std::size_t) * (ghost_counts_.size() + shown_counts_.size())};
}

namespace detail {

GraphBuilder::GraphBuilder(const Team& team, std::vector<Vertex> ranges) {
    graph_.ranges_ = std::move(ranges);
    const auto rank = static_cast<std::size_t>(team.rank());
    graph_.first_ = graph_.ranges_[rank];
    graph_.own_ = graph_.ranges_[rank + 1] - graph_.first_;
    graph_.rows_.reserve(std::size_t{graph_.own_} + 1);
    graph_.rows_.push_back(0);
}

void GraphBuilder::end_row() {
    if (graph_.targets_.size() > std::numeric_limits<std::uint32_t>::max()) {
        throw Error(Errc::unsupported, "a rank would have more than 2^32 neighbours of its "
                                       "vertices; use more ranks");
    }
    graph_.rows_.push_back(static_cast<std::uint32_t>(graph_.targets_.size()));
}

void GraphBuilder::find_ghosts() {
    partition::FlatTable<Vertex> numbers;
    for (const Vertex to : graph_.targets_) {
        if (to - graph_.first_ >= graph_.own_) {
            numbers[to] = 0;
        }
    }
    graph_.ghosts_.reserve(numbers.size());
    numbers.for_each([&](Vertex ghost, Vertex) { graph_.ghosts_.push_back(ghost); });
    std::sort(graph_.ghosts_.begin(), graph_.ghosts_.end());
    for (std::size_t at = 0; at < graph_.ghosts_.size(); ++at) {
        numbers[graph_.ghosts_[at]] = graph_.own_ + static_cast<Vertex>(at);
    }
    for (Vertex& to : graph_.targets_) {
        const Vertex offset = to - graph_.first_;
        to = offset < graph_.own_ ? offset : *numbers.find(to);
    }
}

void GraphBuilder::show_ghosts(Team& team) {
    Outbox<Vertex> wanted(size_of(team));
    for (const Vertex ghost : graph_.ghosts_) {
        wanted[static_cast<std::size_t>(graph_.owner(ghost))].push_back(ghost);
    }
    for (const auto& part : wanted) {
        graph_.ghost_counts_.push_back(part.size());
    }
    auto inbox = exchange(team, wanted);
    for (Vertex& shown : inbox.items) {
        shown -= graph_.first_;
    }
    graph_.shown_ = std::move(inbox.items);
    graph_.shown_counts_ = std::move(inbox.counts);
}

SharedGraph GraphBuilder::finish(Team& team, WeightList vertex_weights) {
    graph_.vertex_weights_ = std::move(vertex_weights);
    find_ghosts();
    show_ghosts(team);
    Weight weight = 0;
    std::array<double, 2> sums{}; // A sum of weights may be more than a Weight can be.
    for (Vertex own = 0; own < graph_.own_; ++own) {
        weight += graph_.vertex_weights_[own];
        sums[0] += static_cast<double>(graph_.vertex_weights_[own]);
        graph_.for_each_neighbour(
            own, [&](Vertex, Weight of_edge) { sums[1] += static_cast<double>(of_edge) / 2; });
    }
    std::array<double, 2> sums_of_all{};
    team.allreduce(sums, sums_of_all);
    if (std::max(sums_of_all[0], sums_of_all[1]) > partition::total_most) {
        throw partition::AgreedError(Errc::unsupported,
                                     "the weights of a graph add up to at most 2^52");
    }
    const std::array<std::uint64_t, 2> mine{graph_.targets_.size(),
                                            static_cast<std::uint64_t>(weight)};
    std::array<std::uint64_t, 2> all{};
    team.allreduce(mine, all);
    graph_.edges_ = all[0] / 2;
    graph_.total_weight_ = static_cast<Weight>(all[1]);
    return std::move(graph_);
}

} // namespace detail

namespace {

using Edge = SharedGraph::Edge;
using Vertex = SharedGraph::Vertex;
using Weight = SharedGraph::Weight;

/// Whether some rank's edges have weights. Throws Errc::invalid_argument on all ranks if what one
/// of them gave is wrong.
bool check_edges(Team& team, std::uint64_t vertices, std::span<const Edge> edges,
                 std::span<const Weight> weights) {
    const bool is_outside = std::any_of(edges.begin(), edges.end(), [&](const Edge& edge) {
        return edge.from >= vertices || edge.to >= vertices;
    });
    const bool is_light = std::any_of(weights.begin(), weights.end(), [](Weight weight) {
        return weight < 1 || weight > partition::weight_most;
    });
    const std::array<int, 5> mine{is_outside, is_light, !weights.empty(),
                                  weights.empty() && !edges.empty(),
                                  !weights.empty() && weights.size() != edges.size()};
    std::array<int, 5> any{};
    team.allreduce(mine, any, maximum());
    if (vertices >= std::numeric_limits<Vertex>::max()) {
        throw partition::AgreedError(Errc::unsupported, "a graph has fewer than 2^32 - 1 vertices");
    }
    if (any[0] != 0) {
        throw partition::AgreedError(Errc::invalid_argument,
                                     "an edge names a vertex that is not among the " +
                                         std::to_string(vertices));
    }
    if (any[1] != 0) {
        throw partition::AgreedError(Errc::invalid_argument,
                                     "the weight of an edge is below 1 or above 2^40");
    }
    if ((any[2] != 0 && any[3] != 0) || any[4] != 0) {
        throw partition::AgreedError(Errc::invalid_argument,
                                     "give one weight for each edge on all ranks, or none");
    }
    return any[2] != 0;
}

/// Where each rank's range begins, such that all have about as many ends of edges and vertices
/// together.
std::vector<Vertex> even_ranges(Team& team, Vertex vertices, std::span<const Edge> edges) {
    constexpr std::uint64_t most = 4096;
    const std::uint64_t width = std::max<std::uint64_t>((vertices + most - 1) / most, 1);
    const std::uint64_t bins = (vertices + width - 1) / width;
    std::vector<std::uint64_t> mine(bins);
    for (const Edge& edge : edges) {
        ++mine[edge.from / width];
        ++mine[edge.to / width];
    }
    std::vector<std::uint64_t> sums(bins);
    team.allreduce(mine, sums);
    for (std::uint64_t bin = 0; bin < bins; ++bin) {
        sums[bin] += std::min<std::uint64_t>(width, vertices - bin * width);
    }
    std::partial_sum(sums.begin(), sums.end(), sums.begin());
    std::vector<Vertex> ranges{0};
    const auto size = static_cast<std::uint64_t>(team.size());
    for (std::uint64_t rank = 1; rank < size; ++rank) {
        const std::uint64_t goal = bins == 0 ? 0 : sums.back() / size * rank;
        const auto at = std::lower_bound(sums.begin(), sums.end(), goal) - sums.begin();
        const std::uint64_t end = (static_cast<std::uint64_t>(at) + 1) * width;
        ranges.push_back(static_cast<Vertex>(std::min<std::uint64_t>(end, vertices)));
    }
    ranges.push_back(vertices);
    return ranges;
}

template <class Arc, class MakeArc>
void build_from(Team& team, detail::GraphBuilder& builder, std::span<const Edge> edges,
                MakeArc&& make_arc) {
    const SharedGraph& graph = builder.graph();
    partition::build_rows<Arc>(
        team, builder, [&](const partition::Slice& slice, Outbox<Arc>& outbox) {
            const auto add = [&](Vertex from, Vertex to, std::size_t at) {
                const auto rank = static_cast<std::size_t>(graph.owner(from));
                if (from >= slice.begin[rank] && from < slice.end[rank]) {
                    outbox[rank].push_back(make_arc(from, to, at));
                }
            };
            for (std::size_t at = 0; at < edges.size(); ++at) {
                const Edge edge = edges[at];
                if (edge.from != edge.to) {
                    add(edge.from, edge.to, at);
                    add(edge.to, edge.from, at);
                }
            }
        });
}

/// SharedGraph::from_edges.
SharedGraph built(Team& team, std::uint64_t vertices, std::span<const Edge> edges,
                  std::span<const Weight> weights) {
    const bool has_weights = check_edges(team, vertices, edges, weights);
    const auto count = static_cast<Vertex>(vertices);
    detail::GraphBuilder builder(team, even_ranges(team, count, edges));
    // About as many as the others get. Memory that is not written to costs nothing.
    const std::uint64_t ends = 2 * team.allreduce(std::uint64_t{edges.size()});
    builder.reserve(ends / static_cast<unsigned>(team.size()) * 5 / 4);
    if (has_weights) {
        build_from<partition::WeightedArc>(team, builder, edges,
                                           [&](Vertex from, Vertex to, std::size_t at) {
                                               return partition::WeightedArc{from, to, weights[at]};
                                           });
    } else {
        build_from<partition::PlainArc>(
            team, builder, edges,
            [](Vertex from, Vertex to, std::size_t) { return partition::PlainArc{from, to}; });
    }
    detail::WeightList ones;
    for (Vertex own = 0; own < builder.graph().own(); ++own) {
        ones.push_back(1);
    }
    return builder.finish(team, std::move(ones));
}

} // namespace

SharedGraph SharedGraph::from_edges(Team& team, std::uint64_t vertices, std::span<const Edge> edges,
                                    std::span<const Weight> weights) {
    return partition::collective(team, [&] { return built(team, vertices, edges, weights); });
}

} // namespace corymb

// SPDX-License-Identifier: Apache-2.0
#include "partition/small_graph.hpp"
#include "partition/tuning.hpp"

#include <corymb/error.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <numeric>
#include <span>
#include <string>
#include <tuple>

namespace corymb::partition {

namespace {

class Division {
public:
    Division(int count, Weight limit, Vertex vertices, Random& random)
        : parts(vertices), limit_(limit), random_(random), count_(count) {}

    std::vector<std::uint32_t> parts;

    void run(const SmallGraph& graph) {
        std::vector<Vertex> names(graph.size());
        std::iota(names.begin(), names.end(), Vertex{0});
        run(graph, names, 0, count_);
    }

private:
    /// Divides a graph, whose vertices are named, into `count` parts from `first` on.
    void run(const SmallGraph& graph, const std::vector<Vertex>& names, int first, int count) {
        if (count == 1 || graph.size() == 0) {
            for (const Vertex name : names) {
                parts[name] = static_cast<std::uint32_t>(first);
            }
            return;
        }
        const int counts[2] = {count / 2, count - count / 2};
        const std::vector<Side> sides = bisect(graph, halves(graph, counts), random_);
        for (const Side side : {Side{0}, Side{1}}) {
            std::vector<Vertex> side_names;
            const SmallGraph half = half_of(graph, sides, side, names, side_names);
            run(half, side_names, first + (side == 0 ? 0 : counts[0]), counts[side]);
        }
    }

    /// Each of the bisections to come takes the same share of what the limit leaves: Schlag et al.,
    /// "k-way hypergraph partitioning via n-level recursive bisection", ALENEX 2016.
    [[nodiscard]] Halves halves(const SmallGraph& graph, const int (&counts)[2]) const {
        const double count = counts[0] + counts[1];
        const double total = static_cast<double>(std::max<Weight>(graph.total, 1));
        const double room = std::max(count * static_cast<double>(limit_) / total, 1.0);
        const double share = std::pow(room, 1 / std::ceil(std::log2(count)));
        Halves result;
        const Weight all = counts[0] + counts[1];
        result.goal = graph.total / all * counts[0] + graph.total % all * counts[0] / all;
        for (const int side : {0, 1}) {
            const double even = total * counts[side] / count;
            // Room for rounding, but never more than the parts of the side may weigh.
            const double parts_most = static_cast<double>(limit_) * counts[side];
            result.most[side] = static_cast<Weight>(std::min(std::ceil(even * share), parts_most));
        }
        return result;
    }

    static SmallGraph half_of(const SmallGraph& graph, const std::vector<Side>& sides, Side side,
                              const std::vector<Vertex>& names, std::vector<Vertex>& side_names) {
        std::vector<Vertex> numbers(graph.size());
        Vertex size = 0;
        for (Vertex vertex = 0; vertex < graph.size(); ++vertex) {
            numbers[vertex] = size;
            size += sides[vertex] == side ? 1u : 0u;
        }
        SmallGraph half;
        for (Vertex vertex = 0; vertex < graph.size(); ++vertex) {
            if (sides[vertex] != side) {
                continue;
            }
            graph.for_each_neighbour(vertex, [&](Vertex to, Weight weight) {
                if (sides[to] == side) {
                    half.targets.push_back(numbers[to]);
                    half.weights.push_back(weight);
                }
            });
            half.rows.push_back(static_cast<std::uint32_t>(half.targets.size()));
            half.vertex_weights.push_back(graph.vertex_weights[vertex]);
            half.total += graph.vertex_weights[vertex];
            side_names.push_back(names[vertex]);
        }
        return half;
    }

    Weight limit_;
    Random& random_;
    int count_;
};

/// Collective. What all ranks have, one behind the other.
template <class T>
std::vector<T> gather_all(Team& team, const std::vector<T>& mine) {
    const std::size_t count = mine.size();
    std::vector<std::size_t> counts(size_of(team));
    team.allgather(std::span<const std::size_t>(&count, 1), counts);
    std::vector<T> all(std::accumulate(counts.begin(), counts.end(), std::size_t{0}));
    team.allgatherv(std::span<const T>(mine), all, {counts});
    return all;
}

SmallGraph gather_graph(Team& team, const SharedGraph& graph) {
    if (graph.edges() > std::numeric_limits<std::uint32_t>::max() / 2) {
        throw Error(
            Errc::unsupported,
            "the graph cannot be made small enough to be divided on one rank: it still has " +
                std::to_string(graph.edges()) + " edges; ask for fewer parts");
    }
    std::vector<std::uint32_t> degrees;
    std::vector<Vertex> targets;
    std::vector<Weight> weights;
    std::vector<Weight> vertex_weights;
    for (Vertex own = 0; own < graph.own(); ++own) {
        graph.for_each_neighbour(own, [&](Vertex to, Weight weight) {
            targets.push_back(graph.global(to));
            weights.push_back(weight);
        });
        degrees.push_back(static_cast<std::uint32_t>(graph.neighbours(own).size()));
        vertex_weights.push_back(graph.vertex_weight(own));
    }
    SmallGraph result;
    for (const std::uint32_t degree : gather_all(team, degrees)) {
        result.rows.push_back(result.rows.back() + degree);
    }
    result.targets = gather_all(team, targets);
    result.weights = gather_all(team, weights);
    result.vertex_weights = gather_all(team, vertex_weights);
    result.total = graph.total_weight();
    return result;
}

/// What parts are heavier than they may be, in all, and the cut.
std::pair<Weight, Weight> quality_of(const SmallGraph& graph, int parts, Weight limit,
                                     const std::vector<std::uint32_t>& part) {
    std::vector<Weight> weights(static_cast<std::size_t>(parts));
    Weight cut = 0;
    for (Vertex vertex = 0; vertex < graph.size(); ++vertex) {
        weights[part[vertex]] += graph.vertex_weights[vertex];
        graph.for_each_neighbour(vertex, [&](Vertex to, Weight weight) {
            cut += part[to] == part[vertex] ? 0 : weight;
        });
    }
    Weight excess = 0;
    for (const Weight weight : weights) {
        excess += std::max<Weight>(weight - limit, 0);
    }
    return {excess, cut / 2};
}

} // namespace

std::vector<std::uint32_t> divide(const SmallGraph& graph, int parts, Weight limit,
                                  Random& random) {
    Division division(parts, limit, graph.size(), random);
    division.run(graph);
    return std::move(division.parts);
}

std::vector<std::uint32_t> divide_coarsest(Team& team, const SharedGraph& graph, int parts,
                                           Weight limit, std::uint64_t seed) {
    struct Offer {
        Weight excess;
        Weight cut;
        Rank rank;
    };
    const SmallGraph whole = gather_graph(team, graph);
    const int size = team.size();
    const int trials = (tuning::trials_of_coarsest + size - 1) / size;
    std::vector<std::uint32_t> best;
    Offer offer{0, 0, team.rank()};
    for (int trial = 0; trial < trials; ++trial) {
        Random random(seed + static_cast<std::uint64_t>(trial * size + team.rank()));
        auto found = divide(whole, parts, limit, random);
        const auto [excess, cut] = quality_of(whole, parts, limit, found);
        if (best.empty() || std::tie(excess, cut) < std::tie(offer.excess, offer.cut)) {
            offer = {excess, cut, team.rank()};
            best = std::move(found);
        }
    }
    std::vector<Offer> offers(size_of(team));
    team.allgather(std::span<const Offer>(&offer, 1), offers);
    const Offer winner =
        *std::min_element(offers.begin(), offers.end(), [](const Offer& a, const Offer& b) {
            return std::tie(a.excess, a.cut, a.rank) < std::tie(b.excess, b.cut, b.rank);
        });
    team.broadcast(best, winner.rank);
    const auto begin = best.begin() + graph.first();
    return {begin, begin + graph.own()};
}

} // namespace corymb::partition

// SPDX-License-Identifier: Apache-2.0
#include "partition/flat_table.hpp"
#include "partition/small_graph.hpp"
#include "partition/tuning.hpp"

#include <algorithm>
#include <cstddef>
#include <numeric>
#include <queue>
#include <utility>

namespace corymb::partition {

namespace {

/// Vertices by how much the cut shrinks when they change sides. Entries that are out of date stay
/// until they come up.
class MoveQueue {
public:
    explicit MoveQueue(Vertex vertices) : gains_(vertices) {}
    void push(Vertex vertex, Weight gain) {
        gains_[vertex] = gain;
        heap_.emplace(gain, vertex);
    }
    void change(Vertex vertex, Weight by) { push(vertex, gains_[vertex] + by); }
    /// The best vertex for which is_wanted(vertex), or `none`.
    template <class IsWanted>
    Vertex pop(IsWanted&& is_wanted) {
        while (!heap_.empty()) {
            const auto [gain, vertex] = heap_.top();
            heap_.pop();
            if (gain == gains_[vertex] && is_wanted(vertex)) {
                return vertex;
            }
        }
        return none;
    }
    [[nodiscard]] Weight gain(Vertex vertex) const noexcept { return gains_[vertex]; }

    static constexpr Vertex none = ~Vertex{0};

private:
    std::vector<Weight> gains_;
    std::priority_queue<std::pair<Weight, Vertex>> heap_;
};

Weight gain_of(const SmallGraph& graph, const std::vector<Side>& sides, Vertex vertex) {
    Weight gain = 0;
    graph.for_each_neighbour(vertex, [&](Vertex to, Weight weight) {
        gain += sides[to] == sides[vertex] ? -weight : weight;
    });
    return gain;
}

/// How far the sides are from their limits, and the cut; less is better.
using Quality = std::pair<Weight, Weight>;

Weight excess(const Halves& halves, const Weight (&side_weights)[2]) noexcept {
    return std::max<Weight>(side_weights[0] - halves.most[0], 0) +
           std::max<Weight>(side_weights[1] - halves.most[1], 0);
}

/// One pass: each vertex moves at most once, and the best state on the way stays.
class Pass {
public:
    Pass(const SmallGraph& graph, const Halves& halves, std::vector<Side>& sides)
        : graph_(graph), halves_(halves), sides_(sides),
          queues_{MoveQueue(graph.size()), MoveQueue(graph.size())}, is_moved_(graph.size()) {
        for (Vertex vertex = 0; vertex < graph.size(); ++vertex) {
            side_weights_[sides[vertex]] += graph.vertex_weights[vertex];
        }
    }

    /// Whether it has made anything better.
    bool run() {
        for (Vertex vertex = 0; vertex < graph_.size(); ++vertex) {
            queues_[sides_[vertex]].push(vertex, gain_of(graph_, sides_, vertex));
        }
        const Quality before{excess(halves_, side_weights_), 0};
        Quality best = before;
        std::size_t best_length = 0;
        Weight cut = 0;
        const auto patience = static_cast<std::size_t>(tuning::fruitless_moves.value()) * 2;
        while (moves_.size() < best_length + patience && move_best(cut)) {
            const Quality now{excess(halves_, side_weights_), cut};
            if (now < best) {
                best = now;
                best_length = moves_.size();
            }
        }
        for (; moves_.size() > best_length; moves_.pop_back()) {
            sides_[moves_.back()] ^= 1;
        }
        return best < before;
    }

private:
    bool move_best(Weight& cut) {
        Vertex chosen = MoveQueue::none;
        Vertex other[2] = {MoveQueue::none, MoveQueue::none};
        for (const Side side : {Side{0}, Side{1}}) {
            if (side_weights_[1 - side] > halves_.most[1 - side]) {
                continue; // The other side is too heavy already.
            }
            other[side] = queues_[side].pop([&](Vertex vertex) {
                return is_moved_[vertex] == 0 && sides_[vertex] == side && fits(vertex);
            });
        }
        if (other[0] == MoveQueue::none || other[1] == MoveQueue::none) {
            chosen = other[0] == MoveQueue::none ? other[1] : other[0];
        } else {
            const Side side = queues_[0].gain(other[0]) >= queues_[1].gain(other[1]) ? 0 : 1;
            chosen = other[side];
            queues_[1 - side].push(other[1 - side], queues_[1 - side].gain(other[1 - side]));
        }
        if (chosen == MoveQueue::none) {
            return false;
        }
        const Side from = sides_[chosen];
        cut -= queues_[from].gain(chosen);
        side_weights_[from] -= graph_.vertex_weights[chosen];
        side_weights_[1 - from] += graph_.vertex_weights[chosen];
        sides_[chosen] ^= 1;
        is_moved_[chosen] = 1;
        moves_.push_back(chosen);
        graph_.for_each_neighbour(chosen, [&](Vertex to, Weight weight) {
            if (is_moved_[to] == 0) {
                queues_[sides_[to]].change(to, sides_[to] == from ? 2 * weight : -2 * weight);
            }
        });
        return true;
    }

    /// A side that is too heavy gives in any case; otherwise the limit of the other side holds.
    [[nodiscard]] bool fits(Vertex vertex) const noexcept {
        const Side from = sides_[vertex];
        return side_weights_[from] > halves_.most[from] ||
               side_weights_[1 - from] + graph_.vertex_weights[vertex] <= halves_.most[1 - from];
    }

    const SmallGraph& graph_;
    const Halves& halves_;
    std::vector<Side>& sides_;
    MoveQueue queues_[2];
    std::vector<std::uint8_t> is_moved_;
    std::vector<Vertex> moves_;
    Weight side_weights_[2] = {0, 0};
};

/// Side 0 grows from a random vertex by what makes the cut smallest, until it has its weight.
std::vector<Side> grow(const SmallGraph& graph, const Halves& halves, Random& random) {
    std::vector<Side> sides(graph.size(), 1);
    MoveQueue queue(graph.size());
    std::vector<std::uint8_t> is_queued(graph.size());
    Weight weight = 0;
    Vertex next = random.below(graph.size());
    for (Vertex tried = 0; weight < halves.goal && tried < graph.size();) {
        Vertex vertex = queue.pop([&](Vertex queued) { return sides[queued] == 1; });
        if (vertex == MoveQueue::none) { // Another component.
            vertex = next;
            next = next + 1 == graph.size() ? 0 : next + 1;
            ++tried;
        }
        if (sides[vertex] == 0 || weight + graph.vertex_weights[vertex] > halves.most[0]) {
            continue;
        }
        sides[vertex] = 0;
        weight += graph.vertex_weights[vertex];
        graph.for_each_neighbour(vertex, [&](Vertex to, Weight of_edge) {
            if (sides[to] == 1) {
                if (is_queued[to] == 0) {
                    is_queued[to] = 1;
                    queue.push(to, gain_of(graph, sides, to));
                } else {
                    queue.change(to, 2 * of_edge);
                }
            }
        });
    }
    return sides;
}

Quality quality_of(const SmallGraph& graph, const Halves& halves, const std::vector<Side>& sides) {
    Weight side_weights[2] = {0, 0};
    Weight cut = 0;
    for (Vertex vertex = 0; vertex < graph.size(); ++vertex) {
        side_weights[sides[vertex]] += graph.vertex_weights[vertex];
        graph.for_each_neighbour(vertex, [&](Vertex to, Weight weight) {
            cut += sides[to] == sides[vertex] ? 0 : weight;
        });
    }
    return {excess(halves, side_weights), cut / 2};
}

/// Pairs along heavy edges: the coarse vertex of each vertex. Vertices that are alone join the pair
/// of their heaviest neighbour, if there is room, so that stars shrink, too.
std::vector<Vertex> match(const SmallGraph& graph, Weight weight_most, Random& random,
                          Vertex& coarse_size) {
    constexpr Vertex none = ~Vertex{0};
    std::vector<Vertex> order(graph.size());
    std::iota(order.begin(), order.end(), Vertex{0});
    for (Vertex left = graph.size(); left > 1; --left) {
        std::swap(order[left - 1], order[random.below(left)]);
    }
    std::vector<Vertex> coarse(graph.size(), none);
    std::vector<Weight> weights;
    for (const bool joins : {false, true}) {
        for (const Vertex vertex : order) {
            if (coarse[vertex] != none) {
                continue;
            }
            const Weight own = graph.vertex_weights[vertex];
            Vertex partner = none;
            Weight best = 0;
            graph.for_each_neighbour(vertex, [&](Vertex to, Weight weight) {
                const bool is_free = coarse[to] == none;
                const Weight together =
                    own + (is_free ? graph.vertex_weights[to] : weights[coarse[to]]);
                if (weight > best && (is_free || joins) && together <= weight_most) {
                    best = weight;
                    partner = to;
                }
            });
            if (partner == none && !joins) {
                continue; // For the second time.
            }
            if (partner != none && coarse[partner] != none) {
                coarse[vertex] = coarse[partner];
                weights[coarse[vertex]] += own;
                continue;
            }
            coarse[vertex] = static_cast<Vertex>(weights.size());
            weights.push_back(own);
            if (partner != none) {
                coarse[partner] = coarse[vertex];
                weights.back() += graph.vertex_weights[partner];
            }
        }
    }
    coarse_size = static_cast<Vertex>(weights.size());
    return coarse;
}

SmallGraph contract_small(const SmallGraph& graph, const std::vector<Vertex>& coarse,
                          Vertex coarse_size) {
    std::vector<std::uint32_t> places(coarse_size + 1);
    for (const Vertex to : coarse) {
        ++places[to + 1];
    }
    std::partial_sum(places.begin(), places.end(), places.begin());
    std::vector<Vertex> members(graph.size());
    std::vector<std::uint32_t> next(places.begin(), places.end() - 1);
    for (Vertex vertex = 0; vertex < graph.size(); ++vertex) {
        members[next[coarse[vertex]]++] = vertex;
    }
    SmallGraph result;
    result.total = graph.total;
    FlatTable<Weight> sums;
    for (Vertex own = 0; own < coarse_size; ++own) {
        sums.clear();
        Weight weight_of_vertex = 0;
        for (std::uint32_t at = places[own]; at < places[own + 1]; ++at) {
            weight_of_vertex += graph.vertex_weights[members[at]];
            graph.for_each_neighbour(members[at], [&](Vertex to, Weight weight) {
                if (coarse[to] != own) {
                    sums[coarse[to]] += weight;
                }
            });
        }
        sums.for_each([&](Vertex to, Weight weight) {
            result.targets.push_back(to);
            result.weights.push_back(weight);
        });
        result.rows.push_back(static_cast<std::uint32_t>(result.targets.size()));
        result.vertex_weights.push_back(weight_of_vertex);
    }
    return result;
}

} // namespace

void refine_sides(const SmallGraph& graph, const Halves& halves, std::vector<Side>& sides) {
    for (int pass = 0; pass < tuning::passes_of_a_bisection; ++pass) {
        if (!Pass(graph, halves, sides).run()) {
            return;
        }
    }
}

std::vector<Side> bisect(const SmallGraph& graph, const Halves& halves, Random& random) {
    if (graph.size() > tuning::smallest_matched) {
        Vertex coarse_size = 0;
        const Weight weight_most = std::max<Weight>(
            graph.total * 3 / (2 * static_cast<Weight>(tuning::smallest_matched.value())), 1);
        const auto coarse = match(graph, weight_most, random, coarse_size);
        if (coarse_size < graph.size() / 20 * 19) {
            const auto coarse_sides =
                bisect(contract_small(graph, coarse, coarse_size), halves, random);
            std::vector<Side> sides(graph.size());
            for (Vertex vertex = 0; vertex < graph.size(); ++vertex) {
                sides[vertex] = coarse_sides[coarse[vertex]];
            }
            refine_sides(graph, halves, sides);
            return sides;
        }
    }
    std::vector<Side> best;
    Quality best_quality;
    for (int trial = 0; trial < tuning::seeds_of_a_bisection; ++trial) {
        std::vector<Side> sides = grow(graph, halves, random);
        refine_sides(graph, halves, sides);
        const Quality quality = quality_of(graph, halves, sides);
        if (best.empty() || quality < best_quality) {
            best_quality = quality;
            best = std::move(sides);
        }
    }
    return best;
}

} // namespace corymb::partition

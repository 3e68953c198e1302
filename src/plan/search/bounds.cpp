// SPDX-License-Identifier: Apache-2.0
// The best of the lower bounds that apply. Barrier and allreduce need every rank's contribution at
// every rank, hence at least a broadcast from, and a reduction to, whichever rank is worst.
#include "plan/generate/families.hpp"
#include "plan/generate/levels.hpp"
#include "plan/search/exact.hpp"
#include "plan/search/growth_bound.hpp"
#include "plan/search/two_class_bound.hpp"

#include <algorithm>
#include <limits>
#include <string>
#include <vector>

namespace corymb {

namespace {

std::size_t at(Rank rank) {
    return static_cast<std::size_t>(rank);
}

// Above these sizes a bound takes longer than the search.
constexpr Rank all_roots_ranks_max = 256;
constexpr Rank growth_ranks_max = 1024;

/// Which root a bound is for: one rank, the best rank, or the worst.
struct Roots {
    enum class Kind : std::uint8_t { one, best, worst } kind;
    Rank one = -1;
};

/// Longest of the shortest paths from `root`, with busy time plus latency as length. O(n^2).
double path_bound_from(const TreeCosts& costs, Rank root) {
    std::vector<double> distance(at(costs.size()), std::numeric_limits<double>::infinity());
    std::vector<bool> done(distance.size(), false);
    distance[at(root)] = 0;
    double farthest = 0;
    for (Rank round = 0; round < costs.size(); ++round) {
        Rank nearest = -1;
        for (Rank rank = 0; rank < costs.size(); ++rank) {
            if (!done[at(rank)] && (nearest < 0 || distance[at(rank)] < distance[at(nearest)])) {
                nearest = rank;
            }
        }
        done[at(nearest)] = true;
        farthest = distance[at(nearest)];
        for (Rank rank = 0; rank < costs.size(); ++rank) {
            if (!done[at(rank)]) {
                distance[at(rank)] =
                    std::min(distance[at(rank)], distance[at(nearest)] + costs.busy(nearest, rank) +
                                                     costs.latency(nearest, rank));
            }
        }
    }
    return farthest;
}

template <class BoundFrom>
double over_roots(Rank size, const Roots& roots, BoundFrom bound_from) {
    if (roots.kind == Roots::Kind::one) {
        return bound_from(roots.one);
    }
    double value = bound_from(0);
    for (Rank root = 1; root < size; ++root) {
        const double other = bound_from(root);
        value = roots.kind == Roots::Kind::best ? std::min(value, other) : std::max(value, other);
    }
    return value;
}

/// The best bound for one direction.
class DirectionBound {
public:
    DirectionBound(const GenerateInput& input, Flow flow, const Roots& roots)
        : input_(input), costs_(input.costs, flow), roots_(roots) {}

    Bound best() {
        const Rank size = costs_.size();
        if (size <= ExactTrees::ranks_max) {
            const ExactTrees trees(costs_, roots_.kind == Roots::Kind::one ? roots_.one : -1);
            // Ticks round every cost of a path down, so the value is a bound as it stands.
            offer(over_roots(size, roots_, [&](Rank root) { return trees.cost(root); }),
                  roots_.kind == Roots::Kind::worst ? "exact-one-way" : "exact");
            return best_;
        }
        if (size <= CostView::dense_ranks_max &&
            (roots_.kind == Roots::Kind::one || size <= all_roots_ranks_max)) {
            offer(
                over_roots(size, roots_, [&](Rank root) { return path_bound_from(costs_, root); }),
                "path");
        }
        if (size <= growth_ranks_max) {
            offer(growth_bound(costs_, roots_.kind == Roots::Kind::one ? roots_.one : -1),
                  "growth");
            offer_levels();
        }
        return best_;
    }

private:
    void offer(double value, const char* kind) {
        if (value > best_.value) {
            best_ = {value, kind};
        }
    }

    void offer_levels() {
        const Rank one = roots_.kind == Roots::Kind::one ? roots_.one : -1;
        for (const Partition& level : group_levels(input_)) {
            offer(cluster_growth_bound(costs_, level), "cluster-growth");
            if (*std::ranges::max_element(level) == 1 && costs_.size() <= all_roots_ranks_max) {
                offer(two_class_bound(costs_, level, one), "two-class");
            }
        }
    }

    const GenerateInput& input_;
    TreeCosts costs_;
    Roots roots_;
    Bound best_{0, "none"};
};

} // namespace

Bound lower_bound(Collective op, const GenerateInput& input) {
    if (input.costs.size() < 2) {
        return {0, "none"};
    }
    const Roots rooted{input.root < 0 ? Roots::Kind::best : Roots::Kind::one, input.root};
    const Roots everybody{Roots::Kind::worst, -1};
    switch (op) {
    case Collective::broadcast: return DirectionBound(input, Flow::down, rooted).best();
    case Collective::reduce: return DirectionBound(input, Flow::up, rooted).best();
    case Collective::barrier:
    case Collective::allreduce: break;
    }
    const Bound down = DirectionBound(input, Flow::down, everybody).best();
    const Bound up = DirectionBound(input, Flow::up, everybody).best();
    return up.value > down.value ? up : down;
}

} // namespace corymb

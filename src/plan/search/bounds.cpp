// SPDX-License-Identifier: Apache-2.0
// The best of the lower bounds that apply. Barrier and allreduce need every rank's contribution at
// every rank, hence at least a broadcast from, and a reduction to, whichever rank is worst.
#include "plan/search/bounds.hpp"

#include "plan/search/exact.hpp"
#include "plan/search/growth_bound.hpp"
#include "plan/search/levels.hpp"
#include "plan/search/two_class_bound.hpp"

#include <algorithm>
#include <iterator>
#include <limits>
#include <numeric>
#include <string>
#include <vector>

namespace corymb {

namespace {

std::size_t at(Rank rank) {
    return static_cast<std::size_t>(rank);
}

// Above these sizes a bound takes longer than the search.
constexpr std::size_t path_rows_max = 512;
constexpr Rank two_class_ranks_max = 256;
constexpr Rank growth_ranks_max = 1024;

/// The root that a bound is for: one rank, the best rank, or the worst.
struct Roots {
    enum class Kind : std::uint8_t { one, best, worst } kind;
    Rank one = -1;
};

/// Longest of the shortest paths from `root`, with busy time plus latency as length, over cost
/// rows: the ranks of one row are all as far away. O(rows^2).
class Paths {
public:
    explicit Paths(const TreeCosts& costs)
        : costs_(costs), first_(at(costs.view().row_count()), -1), last_(first_) {
        for (Rank rank = 0; rank < costs.size(); ++rank) {
            const std::size_t row = at(costs.view().row(rank));
            first_[row] = first_[row] < 0 ? rank : first_[row];
            last_[row] = rank;
        }
    }

    [[nodiscard]] double bound_from(Rank root) const {
        std::vector<double> distance(first_.size(), never);
        std::vector<bool> done(first_.size(), false);
        const std::size_t origin = at(costs_.view().row(root));
        distance[origin] = 0;
        double farthest = 0;
        for (;;) {
            std::size_t nearest = first_.size();
            for (std::size_t row = 0; row < first_.size(); ++row) {
                if (!done[row] && distance[row] < never &&
                    (nearest == first_.size() || distance[row] < distance[nearest])) {
                    nearest = row;
                }
            }
            if (nearest == first_.size()) {
                return farthest;
            }
            done[nearest] = true;
            farthest = distance[nearest];
            for (std::size_t row = 0; row < first_.size(); ++row) {
                if (!done[row] && first_[row] >= 0) {
                    distance[row] = std::min(distance[row], distance[nearest] +
                                                                whole(first_[nearest], last_[row]));
                }
            }
        }
    }

    /// A rank of each row in use.
    [[nodiscard]] std::vector<Rank> representatives() const {
        std::vector<Rank> ranks;
        std::ranges::copy_if(first_, std::back_inserter(ranks),
                             [](Rank rank) { return rank >= 0; });
        return ranks;
    }

private:
    static constexpr double never = std::numeric_limits<double>::infinity();

    [[nodiscard]] double whole(Rank parent, Rank child) const {
        return costs_.busy(parent, child) + costs_.latency(parent, child);
    }

    const TreeCosts& costs_;
    std::vector<Rank> first_, last_;
};

template <class BoundFrom>
double over_roots(const std::vector<Rank>& candidates, const Roots& roots, BoundFrom bound_from) {
    if (roots.kind == Roots::Kind::one) {
        return bound_from(roots.one);
    }
    double value = bound_from(candidates.front());
    for (const Rank root : candidates) {
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
            std::vector<Rank> everybody(at(size));
            std::iota(everybody.begin(), everybody.end(), 0);
            const ExactTrees trees(costs_, roots_.kind == Roots::Kind::one ? roots_.one : -1);
            // Ticks round every cost of a path down, so the value is a bound as it stands.
            offer(over_roots(everybody, roots_, [&](Rank root) { return trees.cost(root); }),
                  roots_.kind == Roots::Kind::worst ? "exact-one-way" : "exact");
            return best_;
        }
        const Paths paths(costs_);
        const std::vector<Rank> candidates = paths.representatives();
        if (roots_.kind == Roots::Kind::one || candidates.size() <= path_rows_max) {
            offer(over_roots(candidates, roots_, [&](Rank root) { return paths.bound_from(root); }),
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
            if (*std::ranges::max_element(level) == 1 && costs_.size() <= two_class_ranks_max) {
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
    case Collective::broadcast:
    case Collective::scatter: return DirectionBound(input, Flow::down, rooted).best();
    case Collective::reduce:
    case Collective::gather: return DirectionBound(input, Flow::up, rooted).best();
    case Collective::scan:
    case Collective::exscan: {
        // The last rank needs to hear of everybody.
        const Roots last{Roots::Kind::one, input.costs.size() - 1};
        return DirectionBound(input, Flow::up, last).best();
    }
    default: break; // Everybody needs to hear of everybody.
    }
    const Bound down = DirectionBound(input, Flow::down, everybody).best();
    const Bound up = DirectionBound(input, Flow::up, everybody).best();
    return up.value > down.value ? up : down;
}

} // namespace corymb

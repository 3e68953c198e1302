// SPDX-License-Identifier: Apache-2.0
// Reduce trees whose subtrees are contiguous ranges of ranks, so that partial results combine in
// rank order (operators that do not commute). Each rank cuts blocks off the far ends of its range,
// a fixed fraction of what is left at a time; several fractions and roots are tried.
#include "plan/generate/family_list.hpp"
#include "plan/search/greedy.hpp"
#include "plan/search/tree_search.hpp"

#include <algorithm>
#include <array>
#include <limits>
#include <utility>
#include <vector>

namespace corymb::generate {

namespace {

struct Range {
    Rank first, last, root;
};

/// The rank of a block that is nearest to the parent going up.
Rank nearest(const CostView& costs, Rank parent, Rank first, Rank last) {
    Rank best = first;
    for (Rank rank = first + 1; rank <= last; ++rank) {
        if (costs.send(rank, parent) + costs.receive(rank, parent) <
            costs.send(best, parent) + costs.receive(best, parent)) {
            best = rank;
        }
    }
    return best;
}

Tree cut_tree(const CostView& costs, Rank root, double fraction) {
    Tree tree = make_tree(costs.size(), root);
    std::vector<Range> ranges{{0, costs.size() - 1, root}};
    while (!ranges.empty()) {
        auto [first, last, parent] = ranges.back();
        ranges.pop_back();
        while (first < last) {
            const Rank left = parent - first;
            const Rank right = last - parent;
            const Rank longer = std::max(left, right);
            const Rank cut = std::clamp(
                static_cast<Rank>(fraction * static_cast<double>(longer) + 0.5), 1, longer);
            const Range block =
                left > right ? Range{first, first + cut - 1, 0} : Range{last - cut + 1, last, 0};
            const Rank child = nearest(costs, parent, block.first, block.last);
            attach(tree, parent, child);
            ranges.push_back({block.first, block.last, child});
            (left > right ? first : last) += left > right ? cut : -cut;
        }
    }
    return tree;
}

bool applies(Collective op, const GenerateInput&) {
    return op == Collective::reduce || op == Collective::allreduce;
}

Plan make(Collective op, const GenerateInput& input) {
    constexpr std::array fractions{0.5, 0.4, 0.3, 0.25, 0.2, 0.15, 0.1, 0.05};
    const Rank size = input.costs.size();
    const TreeCosts down(input.costs, Flow::down);
    std::vector<Rank> roots{input.root};
    if (input.root < 0) {
        roots = {0, size / 2, size - 1, root_candidates(TreeCosts(input.costs, Flow::up)).front()};
    }
    TreePair best;
    double best_cost = std::numeric_limits<double>::infinity();
    for (const Rank root : roots) {
        for (const double fraction : fractions) {
            Tree up = cut_tree(input.costs, root, fraction);
            const double cost = fold_order(up, input.costs, true).makespan;
            if (cost < best_cost) {
                best.up = std::move(up);
                best_cost = cost;
            }
        }
    }
    if (op == Collective::allreduce) {
        best.down = corymb::earliest_completion(down, best.up.root);
        order_children(best.down, down);
    }
    return plan_of_trees(op, best, input.costs, transport(input), true, contiguous.name);
}

} // namespace

constinit const Family contiguous{"contiguous", applies, make};

} // namespace corymb::generate

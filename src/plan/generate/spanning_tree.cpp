// SPDX-License-Identifier: Apache-2.0
// Minimum spanning tree and its opposite as in Smelt: Prim's algorithm from the root on send plus
// receive cost, where a rank with two children takes no more. A yardstick, good and bad.
#include "plan/generate/family_list.hpp"

#include <limits>
#include <vector>

namespace corymb::generate {

namespace {

/// O(n^2): each waiting rank remembers its best informed parent until that parent is full.
Tree prim(const CostView& costs, Rank root, double sign) {
    constexpr std::size_t children_max = 2;
    const Rank size = costs.size();
    Tree tree = make_tree(size, root);
    struct Offer {
        double weight = std::numeric_limits<double>::infinity();
        Rank parent = -1;
    };
    std::vector<Offer> offer(static_cast<std::size_t>(size));
    std::vector<Rank> informed{root};
    const auto is_full = [&](Rank rank) {
        return tree.children_of(rank).size() >= children_max;
    };
    const auto is_waiting = [&](Rank rank) {
        return rank != root && tree.parent[static_cast<std::size_t>(rank)] < 0;
    };
    const auto consider = [&](Rank parent, Rank child) {
        Offer& best = offer[static_cast<std::size_t>(child)];
        const double weight = sign * (costs.send(parent, child) + costs.receive(parent, child));
        if (weight < best.weight) {
            best = {weight, parent};
        }
    };
    while (static_cast<Rank>(informed.size()) < size) {
        const Rank newest = informed.back();
        Rank next = -1;
        for (Rank child = 0; child < size; ++child) {
            if (!is_waiting(child)) {
                continue;
            }
            Offer& best = offer[static_cast<std::size_t>(child)];
            if (best.parent >= 0 && is_full(best.parent)) {
                best = {};
                for (const Rank parent : informed) {
                    if (!is_full(parent)) {
                        consider(parent, child);
                    }
                }
            } else {
                consider(newest, child);
            }
            if (next < 0 || best.weight < offer[static_cast<std::size_t>(next)].weight) {
                next = child;
            }
        }
        attach(tree, offer[static_cast<std::size_t>(next)].parent, next);
        informed.push_back(next);
    }
    return tree;
}

bool applies(Collective op, const GenerateInput& input) {
    return unordered(op, input) && input.costs.size() <= CostView::dense_ranks_max;
}

Plan make_minimum(Collective op, const GenerateInput& input) {
    return plan_of_tree(op, input, prim(input.costs, root_or_first(input), 1.0), mst.name);
}

Plan make_bad(Collective op, const GenerateInput& input) {
    return plan_of_tree(op, input, prim(input.costs, root_or_first(input), -1.0), bad_tree.name);
}

} // namespace

constinit const Family mst{
    .name = "mst", .applies = applies, .make = make_minimum, .is_baseline = true};
constinit const Family bad_tree{
    .name = "bad-tree", .applies = applies, .make = make_bad, .is_baseline = true};

} // namespace corymb::generate

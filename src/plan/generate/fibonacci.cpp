// SPDX-License-Identifier: Apache-2.0
// Fibonacci tree as in Smelt: a node of order k has children of orders k - 1 and k - 2; the nodes
// are numbered level by level and the tree is cut off behind the last rank.
#include "plan/generate/family_list.hpp"

#include <vector>

namespace corymb::generate {

namespace {

Plan make(Collective op, const GenerateInput& input) {
    const Rank size = input.costs.size();
    const Rank root = root_or_first(input);
    // A tree of order k has F(k + 2) - 1 nodes.
    int order = 1;
    for (std::int64_t smaller = 1, larger = 2; larger - 1 < size; ++order) {
        const std::int64_t sum = smaller + larger;
        smaller = larger;
        larger = sum;
    }
    const auto rank_of = [root](Rank position) {
        return position == 0 ? root : position <= root ? position - 1 : position;
    };
    Tree tree = make_tree(size, root);
    std::vector<int> orders{order};
    for (Rank position = 0; position < static_cast<Rank>(orders.size()); ++position) {
        for (int child_order = orders[static_cast<std::size_t>(position)] - 1, i = 0; i < 2;
             --child_order, ++i) {
            if (child_order > 0 && static_cast<Rank>(orders.size()) < size) {
                attach(tree, rank_of(position), rank_of(static_cast<Rank>(orders.size())));
                orders.push_back(child_order);
            }
        }
    }
    return plan_of_tree(op, input, tree, fibonacci.name);
}

} // namespace

constinit const Family fibonacci{"fibonacci", unordered, make};

} // namespace corymb::generate

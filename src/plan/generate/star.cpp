// SPDX-License-Identifier: Apache-2.0
// The root exchanges messages with everybody, in rank order ("sequential" in Smelt).
#include "plan/generate/family_list.hpp"

namespace corymb::generate {

namespace {

bool applies(Collective op, const GenerateInput&) {
    return is_tree_operation(op);
}

Plan make(Collective op, const GenerateInput& input) {
    Tree tree = make_tree(input.costs.size(), root_or_first(input));
    for (Rank rank = 0; rank < tree.size(); ++rank) {
        if (rank != tree.root) {
            attach(tree, tree.root, rank);
        }
    }
    return plan_of_tree(op, input, tree, star.name);
}

} // namespace

constinit const Family star{
    .name = "star", .applies = applies, .make = make, .root_leaves_first = true};

} // namespace corymb::generate

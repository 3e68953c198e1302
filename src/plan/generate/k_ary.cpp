// SPDX-License-Identifier: Apache-2.0
// Complete k-ary trees over the ranks in increasing order, numbered as a heap; with k = 1, a chain.
#include "plan/generate/family_list.hpp"

namespace corymb::generate {

namespace {

/// Ranks in increasing order, with the root moved to the front.
Rank rank_at(Rank position, Rank root) {
    if (position == 0) {
        return root;
    }
    return position <= root ? position - 1 : position;
}

template <Rank FanOut>
Plan make_k_ary(Collective op, const GenerateInput& input, std::string_view name) {
    const Rank root = root_or_first(input);
    Tree tree = make_tree(input.costs.size(), root);
    for (Rank position = 1; position < tree.size(); ++position) {
        attach(tree, rank_at((position - 1) / FanOut, root), rank_at(position, root));
    }
    return plan_of_tree(op, input, tree, name);
}

Plan make_chain(Collective op, const GenerateInput& input) {
    return make_k_ary<1>(op, input, chain.name);
}
Plan make_binary(Collective op, const GenerateInput& input) {
    return make_k_ary<2>(op, input, binary.name);
}
Plan make_quaternary(Collective op, const GenerateInput& input) {
    return make_k_ary<4>(op, input, quaternary.name);
}
Plan make_octonary(Collective op, const GenerateInput& input) {
    return make_k_ary<8>(op, input, octonary.name);
}

} // namespace

constinit const Family chain{"chain", unordered, make_chain};
constinit const Family binary{"binary", unordered, make_binary};
constinit const Family quaternary{"4-ary", unordered, make_quaternary};
constinit const Family octonary{"8-ary", unordered, make_octonary};

} // namespace corymb::generate

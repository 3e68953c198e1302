// SPDX-License-Identifier: Apache-2.0
// Binomial tree over the ranks counted from the root: the sender of each round doubles the
// informed.
#include "plan/generate/family_list.hpp"

namespace corymb::generate {

namespace {

Plan make(Collective op, const GenerateInput& input) {
    const Rank size = input.costs.size();
    const Rank root = root_or_first(input);
    Tree tree = make_tree(size, root);
    Rank top = 1;
    while (top < size) {
        top *= 2;
    }
    // Relative rank v hangs under v without its lowest set bit; the largest subtree is served
    // first.
    for (Rank bit = top / 2; bit > 0; bit /= 2) {
        for (Rank relative = bit; relative < size; relative += 2 * bit) {
            attach(tree, (relative - bit + root) % size, (relative + root) % size);
        }
    }
    return plan_of_tree(op, input, tree, binomial.name);
}

} // namespace

constinit const Family binomial{"binomial", unordered, make};

} // namespace corymb::generate

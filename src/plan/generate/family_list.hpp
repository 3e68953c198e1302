// SPDX-License-Identifier: Apache-2.0
// One declaration a family; each is defined in the file of its name. Internal to generate/.
#pragma once

#include "plan/generate/families.hpp"
#include "plan/generate/tree.hpp"
#include "plan/generate/tree_plan.hpp"

namespace corymb::generate {

extern const Family star;
extern const Family chain;
extern const Family binary;
extern const Family quaternary;
extern const Family octonary;

/// Whether any tree can carry the operation. Reductions in rank order need contiguous subtrees,
/// which only star, contiguous and recursive-doubling offer.
inline bool unordered(Collective op, const GenerateInput& input) {
    const bool reduces = op == Collective::reduce || op == Collective::allreduce;
    return !(reduces && input.ordered);
}

/// For families that the costs do not shape: the asked root, or rank 0 as Smelt does.
inline Rank root_or_first(const GenerateInput& input) {
    return input.root < 0 ? 0 : input.root;
}

inline Transport transport(const GenerateInput& input) {
    return {input.via, input.blocks, input.bytes};
}

/// Plan of a family that uses one tree for both directions.
inline Plan plan_of_tree(Collective op, const GenerateInput& input, const Tree& tree,
                         std::string_view name) {
    return plan_of_trees(op, {tree, tree}, input.costs, transport(input), input.ordered, name);
}

} // namespace corymb::generate

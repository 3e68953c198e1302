// SPDX-License-Identifier: Apache-2.0
// The declarations of all families; each is defined in the file of its name.
#pragma once

#include "plan/generate/families.hpp"
#include "plan/generate/tree_plan.hpp"
#include "plan/search/tree.hpp"

namespace corymb::generate {

extern const Family star;
extern const Family chain;
extern const Family binary;
extern const Family quaternary;
extern const Family octonary;
extern const Family binomial;
extern const Family fibonacci;
extern const Family mst;
extern const Family bad_tree;
extern const Family cluster;
extern const Family hierarchical_flat;
extern const Family hierarchical_binomial;
extern const Family hierarchical;
extern const Family smelt_adaptive;
extern const Family smelt_adaptive_shuffle;
extern const Family smelt_adaptive_shuffle_sort;
extern const Family contiguous;
extern const Family shared_line;
extern const Family shared_line_tree;
extern const Family all_to_all;
extern const Family dissemination_2;
extern const Family dissemination_3;
extern const Family dissemination_4;
extern const Family recursive_doubling;
extern const Family pair_exchange;
extern const Family halving_doubling;
extern const Family ring;
extern const Family direct;
extern const Family direct_push;
extern const Family pairwise;
extern const Family linear;
extern const Family bruck;
extern const Family scan_linear;
extern const Family scan_doubling;
extern const Family scan_tree;
extern const Family canonical;
extern const Family composed_exchange;
extern const Family composed_direct;
extern const Family hybrid_1;
extern const Family hybrid_2;
extern const Family hybrid_3;
extern const Family earliest_completion;
extern const Family earliest_completion_look_ahead;
extern const Family annealed;
extern const Family exact;

/// Operations that a tree or two with the same payload on every edge can carry.
inline bool has_one_payload(Collective op) {
    return op == Collective::barrier || op == Collective::broadcast || op == Collective::reduce ||
           op == Collective::allreduce;
}

/// Operations that a tree or two can carry.
inline bool is_tree_operation(Collective op) {
    return has_one_payload(op) || op == Collective::gather || op == Collective::scatter ||
           op == Collective::allgather;
}

/// Whether any tree can carry the operation. Reductions in rank order need contiguous subtrees,
/// which among the tree families only star and contiguous guarantee.
inline bool unordered(Collective op, const GenerateInput& input) {
    return is_tree_operation(op) && !(is_reduction(op) && input.ordered);
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

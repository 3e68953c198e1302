// SPDX-License-Identifier: Apache-2.0
// A rooted tree over the ranks of a group: the shape of most plans, without its steps.
#pragma once

#include "plan/cost_view.hpp"

#include <span>
#include <vector>

namespace corymb {

/// Children are in the order in which the parent serves them going down.
struct Tree {
    Rank root = 0;
    std::vector<Rank> parent; ///< -1 for the root.
    std::vector<std::vector<Rank>> children;

    [[nodiscard]] Rank size() const noexcept { return static_cast<Rank>(parent.size()); }
    [[nodiscard]] const std::vector<Rank>& children_of(Rank rank) const noexcept {
        return children[static_cast<std::size_t>(rank)];
    }

    bool operator==(const Tree&) const = default;
};

/// A tree of `size` ranks in which nobody but the root is attached yet.
Tree make_tree(Rank size, Rank root);
/// Makes `child` the last child of `parent`.
void attach(Tree& tree, Rank parent, Rank child);
/// The tree of a parent array (-1 for the root); children in increasing rank order.
Tree tree_from_parents(std::span<const Rank> parent);

/// Every rank, parents before their children, in breadth-first order. Throws
/// Errc::invalid_argument unless the tree reaches every rank exactly once.
std::vector<Rank> breadth_first(const Tree& tree);

/// Time from the start of a rank until its whole subtree is served, for every rank; the entry of
/// the root is the makespan. O(n).
std::vector<double> subtree_costs(const Tree& tree, const TreeCosts& costs);
double makespan(const Tree& tree, const TreeCosts& costs);

/// Puts the children of every rank in the order that is best for this shape: largest latency plus
/// subtree cost first. It is optimal: serving the children is the one-machine problem with delivery
/// times, where the longest tail goes first whatever the processing times are (Jackson 1955).
void order_children(Tree& tree, const TreeCosts& costs);

/// Order in which a rank folds its children going up, for each rank: by arrival in the model, which
/// is optimal too (earliest release date first). With `ordered`, children on either side of the
/// rank come nearest first, so that partial results stay contiguous; throws Errc::invalid_argument
/// if a subtree is not a contiguous range of ranks. Also returns when the root has everything.
struct FoldOrder {
    std::vector<std::vector<Rank>> children;
    double makespan = 0;
};
FoldOrder fold_order(const Tree& tree, const CostView& costs, bool ordered = false);

} // namespace corymb

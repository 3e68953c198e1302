// SPDX-License-Identifier: Apache-2.0
// Turns trees into plans for operations that trees carry.
#pragma once

#include "plan/cost_view.hpp"
#include "plan/generate/plan_writer.hpp"
#include "plan/search/tree.hpp"

#include <corymb/plan.hpp>

#include <string_view>

namespace corymb {

/// The first half of a barrier or allreduce: signals up the tree, or folds into the root's
/// `output`, block by block, in the order of `fold_order`.
void write_up(PlanWriter& writer, const Tree& up, const CostView& costs, bool ordered);

/// The trees of one operation: barrier and allreduce need both, the others one.
struct TreePair {
    Tree up, down;
};
/// The plan of `op` over a pair of trees with one root. A broadcast goes down block by block. A
/// reduce folds children in the order of `fold_order`, the root in `output`, the others in
/// `scratch`. The two phases of an allreduce overlap block by block when every edge can hold the
/// blocks under way: a rank at depth d sends block b up before it waits for block b - 2 d from
/// above. Otherwise the phases follow each other.
Plan plan_of_trees(Collective op, const TreePair& trees, const CostView& costs,
                   const Transport& transport, bool ordered, std::string_view algorithm);

} // namespace corymb

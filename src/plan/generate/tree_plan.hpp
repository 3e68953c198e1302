// SPDX-License-Identifier: Apache-2.0
// Turns trees into plans: the steps of every rank for a broadcast, reduce, barrier or allreduce.
#pragma once

#include "plan/cost_view.hpp"
#include "plan/generate/tree.hpp"

#include <corymb/plan.hpp>

#include <cstdint>
#include <string_view>

namespace corymb {

/// How the payload travels along the edges of a tree.
struct Transport {
    Mechanism via = Mechanism::line;
    std::uint32_t blocks = 1; ///< Above 1 a child forwards block b while b + 1 is on its way.
    std::uint64_t bytes = 8;  ///< Payload that the plan is for.
};

/// An empty plan with everything but the steps filled in.
Plan start_plan(Collective op, Rank size, Rank root, const Transport& transport,
                std::string_view algorithm);

/// Broadcast down a tree, block by block. With `pull`, every child signals its parent when it has
/// copied the last block, and the parent returns only then.
Plan broadcast_plan(const Tree& tree, const Transport& transport, std::string_view algorithm);

/// Reduce up a tree; children are folded in the order of `fold_order`. The root accumulates in
/// `output`, the others in `scratch`. With `pull`, the parent signals each child when it has folded
/// the child's last block, and the child returns only then.
Plan reduce_plan(const Tree& tree, const CostView& costs, const Transport& transport, bool ordered,
                 std::string_view algorithm);

/// The first half of an allreduce: folds up a tree into the root's `output`. With `pull`, nothing
/// is acknowledged: the message that brings the result down says that the contribution was taken.
Plan fold_plan(const Tree& up, const CostView& costs, const Transport& transport, bool ordered,
               std::string_view algorithm);

/// Signals up one tree and down another with the same root.
Plan barrier_plan(const Tree& up, const Tree& down, const CostView& costs,
                  std::string_view algorithm);

/// Reduce up one tree and broadcast down another with the same root. The phases overlap block by
/// block when every edge can hold the blocks under way (a rank at depth d sends block b up before
/// it waits for block b - 2 d from above); otherwise they follow each other.
Plan allreduce_plan(const Tree& up, const Tree& down, const CostView& costs,
                    const Transport& transport, bool ordered, std::string_view algorithm);

/// The trees of one operation: barrier and allreduce need both, the others one.
struct TreePair {
    Tree up, down;
};
/// The plan of `op` over a pair of trees.
Plan plan_of_trees(Collective op, const TreePair& trees, const CostView& costs,
                   const Transport& transport, bool ordered, std::string_view algorithm);

} // namespace corymb

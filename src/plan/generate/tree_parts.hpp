// SPDX-License-Identifier: Apache-2.0
// Trees whose messages carry the parts of whole subtrees: gather, scatter, allgather.
#pragma once

#include "plan/generate/tree_plan.hpp"

namespace corymb {

/// Gather up a tree. A rank sends the parts of its subtree, sorted by rank, as one message; where
/// they are no run of parts for its parent, the parent sorts them in, or, if they are long, takes
/// a message a run. Children are served in the order of `fold_order`.
Plan gather_plan(const Tree& tree, const CostView& costs, const Transport& transport,
                 std::string_view algorithm);

/// Scatter down a tree, the reverse of `gather_plan`.
Plan scatter_plan(const Tree& tree, const Transport& transport, std::string_view algorithm);

/// Gather up one tree, then broadcast of all parts down another with the same root.
Plan allgather_plan(const Tree& up, const Tree& down, const CostView& costs,
                    const Transport& transport, std::string_view algorithm);

} // namespace corymb

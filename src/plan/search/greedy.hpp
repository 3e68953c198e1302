// SPDX-License-Identifier: Apache-2.0
// Greedy trees: always the message that completes first.
#pragma once

#include "plan/cost_view.hpp"
#include "plan/search/tree.hpp"

namespace corymb {

/// Earliest completing edge first (ECEF; Bhat, Raghavendra, Prasanna, JPDC 2003): the next message
/// is the one that would be received first. Children stay in the order of their messages.
/// O(n log n + rows^2 log rows) time.
Tree earliest_completion(const TreeCosts& costs, Rank root);

/// ECEF with look-ahead (same paper): adds to each candidate the cheapest message that it could
/// send on to a rank that still waits. O(n^2 rows) time.
Tree earliest_completion_look_ahead(const TreeCosts& costs, Rank root);

} // namespace corymb

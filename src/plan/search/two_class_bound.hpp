// SPDX-License-Identifier: Apache-2.0
// Lower bound for groups that fall in two parts.
#pragma once

#include "plan/cost_view.hpp"
#include "plan/search/levels.hpp"

namespace corymb {

/// Replaces every cost by the least one between the two parts it joins. Then only the numbers of
/// ranks that wait in either part matter, and the best tree is found exactly by dynamic programming
/// over them: O(a^2 b log b) for parts of a and b ranks. Strong for two sockets of single-threaded
/// cores; weak with SMT, whose siblings make the least cost tiny. Root -1: the better part.
/// `partition` must have two groups.
double two_class_bound(const TreeCosts& costs, const Partition& partition, Rank root);

} // namespace corymb

// SPDX-License-Identifier: Apache-2.0
// Lower bounds from how fast the number of informed ranks can grow.
#pragma once

#include "plan/cost_view.hpp"
#include "plan/search/levels.hpp"

namespace corymb {

/// How early the best rank of the group can have served its k-th child is, for one rank, the
/// one-machine problem of on-time jobs (exact by Moore and Hodgson 1968). If every rank were as
/// good as the best for every k, the greedy growth of the informed ranks would be the fastest
/// possible; the time at which it reaches all of them bounds every tree. A fixed root grows by its
/// own profile.
double growth_bound(const TreeCosts& costs, Rank root);

/// As growth_bound, with separate profiles inside and between the groups of a partition. A rank may
/// serve both at once, and the messages that one message into a group can cause inside it are
/// capped by the group's size; both only make the bound lower.
double cluster_growth_bound(const TreeCosts& costs, const Partition& partition);

} // namespace corymb

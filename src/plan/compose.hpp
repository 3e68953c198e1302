// SPDX-License-Identifier: Apache-2.0
// A plan for many ranks out of plans for groups of them: composition is a function of plans.
#pragma once

#include <corymb/plan.hpp>

#include <span>
#include <string_view>
#include <vector>

namespace corymb {

/// A group of ranks and its plans before and after its leader acts for it. Ranks of the two plans
/// are places in `members`; a group of one needs no plans.
struct RankGroup {
    std::vector<Rank> members;
    Rank leader = 0; ///< Place in `members`.
    Plan up;         ///< A reduce to the leader: for reduce, allreduce and barrier.
    Plan down;       ///< A broadcast from the leader: for broadcast, allreduce and barrier.
};

/// The plan of `op` over all groups: everybody's contribution goes up to its leader, the leaders
/// act by `leaders`, a plan of `op` whose rank g is the leader of groups[g], and the result goes
/// down. Groups may be of any sizes and together have every rank of 0 to size - 1 once. Where there
/// is a root, it leads its group. A group's plan may itself be composed, for as many levels as
/// wanted. Block counts of the parts may differ; the whole has their least common multiple. In a
/// barrier, messages of the groups' plans become signals.
///
/// Throws Errc::invalid_argument when the parts do not fit together, or for an operation other than
/// barrier, broadcast, reduce and allreduce. The result is as right as its parts, but for two
/// phases that publish on one rank, which `check_plan` refuses. O(steps).
Plan compose(Collective op, std::span<const RankGroup> groups, const Plan& leaders,
             std::string_view algorithm);

} // namespace corymb

// SPDX-License-Identifier: Apache-2.0
// Finds which PUs belong together from few measured pairs: leader clustering, outside in.
//
// One PU of a set, its leader, is measured against all others of the set. The largest jump in the
// sorted costs cuts the set: those before it are near the leader, and the rest is cut in the same
// way around new leaders. Then each part is treated likewise, with its leader's row already known.
// The outermost jump is taken first: if siblings of a core were split off first, each of the many
// cores would need a row over the whole machine. Parts of one set are usually translations of each
// other in the numbering; that guess is verified member by member and saves most rows.
#pragma once

#include "machine/discover/pair_table.hpp"

#include <functional>
#include <vector>

namespace corymb::discover {

/// A set of PUs and how it falls apart. The first member is the leader.
struct ClusterNode {
    std::vector<int> members;
    std::vector<ClusterNode> parts; ///< Empty: all pairs cost about the same.
};

/// Clusters `members`, at least one. `keep_going` is asked before each pair; when it refuses, sets
/// stay whole. Costs n rows at worst, about n pairs a level when parts are translations.
ClusterNode cluster_by_leaders(const std::vector<int>& members, PairTable& table,
                               const std::function<bool()>& keep_going);

/// Ratio of neighbouring costs that counts as a jump at this noise of single estimates.
double significant_ratio(double noise);

} // namespace corymb::discover

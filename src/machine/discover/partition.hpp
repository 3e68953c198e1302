// SPDX-License-Identifier: Apache-2.0
// The structure that sampling rests on: coarse groups, and what is inside of each.
#pragma once

#include "machine/discover/cluster_tree.hpp"

#include <corymb/machine.hpp>

#include <functional>
#include <vector>

namespace corymb::discover {

/// Coarse groups (mostly PUs around one L3) are few enough that their leaders can all be measured
/// against each other. Inside one, `path[pu]` names the parts around the PU from outside in, and
/// ends with its core where cores are known: two PUs are the nearer, the more they share.
struct Partition {
    std::vector<std::vector<int>> coarse; ///< Members; the first is the leader.
    std::vector<int> coarse_of;           ///< By PU.
    std::vector<std::vector<int>> path;   ///< By PU.

    /// Number of leading path entries that two PUs of one coarse group share.
    [[nodiscard]] int shared_depth(int a, int b) const;
};

inline constexpr int coarse_groups_max = 64;

/// Takes the coarse groups from the topology if it has any, and verifies them; else finds them by
/// clustering. Contradictions go to machine.topology.disagreements.
Partition find_partition(Machine& machine, PairTable& table,
                         const std::function<bool()>& keep_going);

} // namespace corymb::discover

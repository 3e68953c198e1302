// SPDX-License-Identifier: Apache-2.0
// The machine's hierarchy as partitions of the ranks of a group.
#pragma once

#include "plan/search/generate_input.hpp"

#include <cstdint>
#include <vector>

namespace corymb {

/// group[rank], dense from 0, numbered by first appearance.
using Partition = std::vector<std::int32_t>;

/// Partitions from coarse to fine, each refining the one before, none trivial (one group, or one
/// rank a group). As given (Machine::levels); else from the topology where it is known; else from
/// the measured pair classes: two ranks belong together at a level if a chain of pairs that are
/// cheap enough joins them. Empty without a machine or without structure.
std::vector<Partition> group_levels(const GenerateInput& input);

/// Smelt's NUMA nodes: NUMA nodes if the topology has several, else packages, else the coarsest
/// level, as it is if levels are given; one group for all if there is none.
Partition numa_nodes(const GenerateInput& input);

/// The ranks of each group, increasing.
std::vector<std::vector<Rank>> members_of(const Partition& partition);

} // namespace corymb

// SPDX-License-Identifier: Apache-2.0
// The part of a plan for several nodes that the ranks of one node need. With many nodes it is
// small; a whole plan of a thousand ranks can have hundreds of MB.
#pragma once

#include "plan/part_names.hpp"

#include <corymb/plan.hpp>

#include <string>
#include <string_view>
#include <vector>

namespace corymb::cluster {

struct NodePart {
    /// The whole plan's head, with steps of the node's ranks only, in their order. Peers count in
    /// the whole team.
    Plan plan;
    /// By rank of the node: the part in each place of its scratch. Only where parts differ in
    /// length.
    std::vector<std::vector<plan::PartName>> scratch;
};

/// The part of a plan for each node, as bytes. With `keeps_parts` the plan must serve parts that
/// differ in length. O(steps). One node's part is in memory beside the bytes at a time.
[[nodiscard]] std::vector<std::string>
parts_as_bytes(const Plan& plan, const std::vector<int>& node_of_rank, bool keeps_parts);

/// Throws Errc::invalid_plan for bytes that are not a whole part of `ranks` ranks, or are another
/// library version's.
[[nodiscard]] NodePart part_from_bytes(std::string_view bytes, std::size_t ranks);

} // namespace corymb::cluster

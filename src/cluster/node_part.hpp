// SPDX-License-Identifier: Apache-2.0
// What a plan for several nodes says to the ranks of one node: all that they need of it. Where
// nodes are many that is little; a whole plan of a thousand ranks can have hundreds of MB.
#pragma once

#include "plan/part_names.hpp"

#include <corymb/plan.hpp>

#include <string>
#include <string_view>
#include <vector>

namespace corymb::cluster {

struct NodePart {
    /// As of the whole plan, but with steps of the node's ranks only, in their order. Peers count
    /// in the whole team.
    Plan plan;
    /// By rank of the node: what stands in each place of its scratch. Only where parts differ in
    /// length.
    std::vector<std::vector<plan::PartName>> scratch;
};

/// By node, as bytes, what a plan says to its ranks; with `keeps_parts`, which it must serve, for
/// parts that differ in length. O(steps). One node's is in memory beside the bytes at a time.
[[nodiscard]] std::vector<std::string>
parts_as_bytes(const Plan& plan, const std::vector<int>& node_of_rank, bool keeps_parts);

/// Throws Errc::invalid_plan for bytes that are not all of one of `ranks` ranks, or are those of
/// another version of the library.
[[nodiscard]] NodePart part_from_bytes(std::string_view bytes, std::size_t ranks);

} // namespace corymb::cluster

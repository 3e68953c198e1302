// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "plan/nodes/scheme.hpp"

#include <corymb/cluster.hpp>

#include <cstdint>
#include <span>

namespace corymb {

/// The nodes, what a message of `bytes` costs between them, and how ranks in these places lie to
/// each other on the machines of their nodes. `places` may be others than the cluster's own. O(n^2)
/// for each way in which the ranks of a node lie.
[[nodiscard]] nodes::Layout layout_of(const Cluster& cluster, std::span<const NodePlace> places,
                                      std::uint64_t bytes);

} // namespace corymb

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "plan/nodes/scheme.hpp"

#include <corymb/cluster.hpp>

#include <span>

namespace corymb {

/// How ranks in these places lie to each other on the machines of their nodes; `places` may be
/// others than the cluster's own. Nothing where that is as they are numbered. O(n^2) for each way
/// in which the ranks of a node lie.
[[nodiscard]] nodes::Seats seats_of(const Cluster& cluster, std::span<const NodePlace> places);

} // namespace corymb

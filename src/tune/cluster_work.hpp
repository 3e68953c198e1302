// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <corymb/cluster.hpp>
#include <corymb/plan.hpp>

#include <cstdint>
#include <span>

namespace corymb {

/// About what a proven plan costs the processors of all ranks together, for parts of `bytes`. It
/// takes a message between nodes to keep both ends busy for about as long as it takes to begin.
/// O(steps).
double work_ns(const Plan& plan, std::span<const int> node_of_rank, std::uint64_t bytes,
               const Network& network);

/// No plan takes less, in ns: what it keeps the busiest link out of a node, at the least. For any
/// plan whose steps are between ranks of it. O(steps).
double busiest_link_ns(const Plan& plan, const Cluster& cluster, std::span<const int> node_of_rank,
                       std::uint64_t bytes);

} // namespace corymb

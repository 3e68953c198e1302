// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <corymb/cluster.hpp>
#include <corymb/plan.hpp>

#include <cstdint>
#include <span>

namespace corymb {

/// Roughly the time that a proven plan costs the processors of all ranks together, for parts of
/// `bytes`. A message between nodes is taken to keep both ends busy for about as long as its
/// start-up. O(steps).
double work_ns(const Plan& plan, std::span<const int> node_of_rank, std::uint64_t bytes,
               const Network& network);

/// A lower bound of the plan's time in ns: the time that it keeps the busiest link out of a node.
/// For any plan whose steps are between ranks of it. O(steps).
double busiest_link_ns(const Plan& plan, const Cluster& cluster, std::span<const int> node_of_rank,
                       std::uint64_t bytes);

} // namespace corymb

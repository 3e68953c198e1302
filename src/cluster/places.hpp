// SPDX-License-Identifier: Apache-2.0
// The nodes of ranks, as callers give them.
#pragma once

#include <corymb/plan.hpp>

#include <vector>

namespace corymb::cluster {

/// Throws Errc::invalid_argument unless `node_of_rank` numbers the nodes from 0, each with a rank,
/// and has `rank`.
void check_places(const std::vector<int>& node_of_rank, Rank rank);

} // namespace corymb::cluster

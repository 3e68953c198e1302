// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <corymb/carrier.hpp>

#include <functional>

namespace corymb::cluster {

/// The default plans of a team over several nodes, proven by check_plan and, where they have to
/// keep parts, by check_vector_plan; defined by the layer that knows the planner.
/// `can_pull`, asked with each plan: ranks of a node can copy out of each other's memory.
[[nodiscard]] PlanSource default_plans(const ClusterOptions& options,
                                       std::function<bool()> can_pull);

} // namespace corymb::cluster

// SPDX-License-Identifier: Apache-2.0
// The planner for several nodes, for callers that cannot use every plan.
#pragma once

#include <corymb/cluster_planner.hpp>

#include <functional>

namespace corymb {

/// Requirements on a plan beside being right and fast.
struct Demands {
    bool can_pull = true; ///< Ranks of a node may copy out of each other's memory.
    /// A node cannot pass on parts of other nodes. Among many ranks only exchanges that never do so
    /// are tried; among few `serves` decides.
    bool passes_nothing_on = false;
    /// Asked before a plan is simulated, as a generator has made it and not proven yet. Empty:
    /// every plan serves.
    std::function<bool(const Plan&)> serves{};
};

/// As make_cluster_plan without demands. Throws Errc::invalid_argument where no plan meets them.
[[nodiscard]] ClusterChoice make_cluster_plan(const Cluster& cluster, const ClusterRequest& request,
                                              const Demands& demands);

} // namespace corymb

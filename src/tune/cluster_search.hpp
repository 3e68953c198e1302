// SPDX-License-Identifier: Apache-2.0
// The planner for several nodes, for callers that cannot use every plan.
#pragma once

#include <corymb/cluster_planner.hpp>

#include <functional>

namespace corymb {

/// What a plan has to be beside right and fast.
struct Demands {
    bool can_pull = true; ///< Ranks of a node may copy out of each other's memory.
    /// Nodes cannot pass on parts of others. Of many ranks only exchanges that never do are tried;
    /// of few `serves` says which.
    bool passes_nothing_on = false;
    /// Asked before a plan is simulated, as a generator has made it and not proven yet. Empty:
    /// every plan serves.
    std::function<bool(const Plan&)> serves{};
};

/// As without demands; Errc::invalid_argument where no plan meets them.
[[nodiscard]] ClusterChoice make_cluster_plan(const Cluster& cluster, const ClusterRequest& request,
                                              const Demands& demands);

} // namespace corymb

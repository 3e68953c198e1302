// SPDX-License-Identifier: Apache-2.0
// The planner for several nodes, for callers that cannot use every plan.
#pragma once

#include "plan/nodes/scheme.hpp"

#include <corymb/cluster_planner.hpp>

#include <functional>
#include <utility>
#include <vector>

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

/// A choice and the schemes behind its names.
struct SchemeChoice : ClusterChoice {
    nodes::Scheme scheme; ///< The scheme of the plan.
    /// Every simulated scheme that has a plan, with its time, in the order of trying.
    std::vector<std::pair<double, nodes::Scheme>> tried;
};

/// As make_cluster_plan without demands. Throws Errc::invalid_argument where no plan meets them.
[[nodiscard]] SchemeChoice make_cluster_plan(const Cluster& cluster, const ClusterRequest& request,
                                             const Demands& demands);

} // namespace corymb

// SPDX-License-Identifier: Apache-2.0
// The planner for several nodes, for callers that cannot use every plan.
#pragma once

#include "plan/nodes/scheme.hpp"

#include <corymb/planner.hpp>

#include <functional>
#include <utility>
#include <vector>

namespace corymb {

/// Asked before a plan is simulated, as a generator has made it and not proven yet, whether the
/// caller can use it. Empty: every plan serves.
using Serves = std::function<bool(const Plan& plan)>;

/// A choice and the schemes behind its names.
struct SchemeChoice : PlanChoice {
    nodes::Scheme scheme; ///< The scheme of the plan.
    /// Every simulated scheme that has a plan, with its time, in the order of trying.
    std::vector<std::pair<double, nodes::Scheme>> tried;
};

/// As make_plan on a cluster, but `serves` alone says which plans keep parts. If the request wants
/// such plans, a node cannot pass on parts of other nodes, unless all ranks know all lengths: among
/// many ranks only exchanges that never do so are tried. Throws Errc::invalid_argument where no
/// plan serves.
[[nodiscard]] SchemeChoice choose_scheme(const Cluster& cluster, const PlanRequest& request,
                                         const Serves& serves);

} // namespace corymb

// SPDX-License-Identifier: Apache-2.0
// Resolves a request: fills in defaults, verifies everything.
#pragma once

#include "plan/search/generate_input.hpp"
#include "tune/variant.hpp"

#include <corymb/planner.hpp>

namespace corymb::tune {

/// The request with its placement, moves and payload filled in, so that equal plans have equal
/// requests. Throws Errc::invalid_argument: no PU, a PU that the machine does not have, a PU taken
/// twice or more ranks than PUs (unless oversubscribed), a root that is not a rank, a payload that
/// is too large.
[[nodiscard]] PlanRequest completed(const Machine& machine, const PlanRequest& request);
/// Throws Errc::invalid_argument also for a placement, turns on CPUs and reproducible sums, and
/// Errc::invalid_model.
[[nodiscard]] PlanRequest completed(const Cluster& cluster, PlanRequest request);

/// The input of a family for a request that is `completed`. Refers to all arguments.
[[nodiscard]] GenerateInput input_of(const CostView& costs, const Machine& machine,
                                     const PlanRequest& request, const Variant& variant);

} // namespace corymb::tune

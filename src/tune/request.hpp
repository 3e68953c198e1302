// SPDX-License-Identifier: Apache-2.0
// Resolves a request: fills in defaults, verifies everything.
#pragma once

#include <corymb/planner.hpp>

namespace corymb::tune {

/// The request with its placement, moves and payload filled in, so that equal plans have equal
/// requests. Throws Errc::invalid_argument: no PU, a PU that the machine does not have, a PU taken
/// twice or more ranks than PUs (unless oversubscribed), a root that is not a rank, a payload that
/// is too large.
[[nodiscard]] PlanRequest completed(const Machine& machine, const PlanRequest& request);

} // namespace corymb::tune

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tune/portfolio.hpp"

#include <corymb/planner.hpp>

namespace corymb::tune {

/// The public result for one candidate of a portfolio, with its lower bound. `request` is
/// completed.
[[nodiscard]] PlanChoice choice_of(const Machine& machine, const PlanRequest& request,
                                   const Portfolio& portfolio, const Candidate& candidate);

} // namespace corymb::tune

// SPDX-License-Identifier: Apache-2.0
// The largest lower bound that applies to an operation.
#pragma once

#include "plan/search/generate_input.hpp"

#include <corymb/plan.hpp>

#include <string>

namespace corymb {

/// A makespan that no plan of point-to-point messages can beat in the model of `input.costs`, for
/// payloads of at most one line. 0 and "none" for one rank.
struct Bound {
    double value = 0;
    std::string kind; ///< "path", "growth", "cluster-growth", "two-class", "exact", "none".
};
Bound lower_bound(Collective op, const GenerateInput& input);

} // namespace corymb

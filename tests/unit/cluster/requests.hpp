// SPDX-License-Identifier: Apache-2.0
// Requests for plans of a cluster.
#pragma once

#include <corymb/planner.hpp>

#include <string>
#include <utility>

namespace corymb::test {

/// Every scheme is simulated.
inline PlanRequest exhaustive(const PlanNeed& need) {
    PlanRequest request{need};
    request.exhaustive = true;
    return request;
}

/// The scheme is given.
inline PlanRequest named(std::string scheme, const PlanNeed& need) {
    PlanRequest request{need};
    request.algorithm = std::move(scheme);
    return request;
}

} // namespace corymb::test

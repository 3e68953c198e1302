// SPDX-License-Identifier: Apache-2.0
// Default plans that this process has seen: a team of the same shape as one before needs no search,
// and programs that make many teams get plans at once.
#pragma once

#include "team/team_shared.hpp"

#include <corymb/plan.hpp>

#include <optional>
#include <vector>

namespace corymb::team {

/// All that the default plan of a team depends on.
struct PlanOrigin {
    std::vector<int> cpu_of_rank;
    std::vector<int> cpus;
    int size = 0;
    bool pull = true;
    bool push = true;
    Caches caches = Caches::unknown;
    int usable = 1; ///< Ranks that can run at the same time.
    PlanKey key;

    auto operator<=>(const PlanOrigin&) const = default;
};

/// Thread-safe. Nothing when there was no such plan, or too many others.
[[nodiscard]] std::optional<Plan> remembered_plan(const PlanOrigin& origin);
/// `plan` has been checked. The first one of an origin stays.
void remember_plan(const PlanOrigin& origin, const Plan& plan);

} // namespace corymb::team

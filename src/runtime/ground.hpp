// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "team/team_shared.hpp"

#include <corymb/machine.hpp>

#include <memory>
#include <string>
#include <vector>

namespace corymb::team {

/// The basis of a team's plans: the model and the place of each rank.
struct Ground {
    std::shared_ptr<const Machine> machine;
    std::vector<int> placement;
    bool crowded = false;
    /// The measured or assumed model of the machine itself. `machine` may hold more: facts found
    /// when the team met, which are never quite equal.
    std::shared_ptr<const Machine> base;
};

/// The model of this machine, measured if there is one, and where the team's ranks are in it:
/// `cpu_of_rank`, or on one PU of each core first. The machine has the levels that are given, if
/// any are; throws as set_levels. Ranks that have no CPU each are crowded, and all pairs of them
/// cost the same. Thread-safe.
[[nodiscard]] Ground ground_of(const std::vector<int>& cpu_of_rank, const std::string& levels,
                               const Surroundings& where);

} // namespace corymb::team

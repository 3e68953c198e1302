// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "plan/matching.hpp"

#include <corymb/plan.hpp>
#include <corymb/planner.hpp>
#include <corymb/simulate.hpp>

#include <cstdint>

namespace corymb::tune {

/// How often `cpus` CPUs, all at once, turn to another rank for one operation of many, when each
/// rank runs until it has to wait. Infinite for a plan that never ends.
[[nodiscard]] double turns_in_a_row(const plan::Matching& matching, int cpus);
/// Throws Errc::invalid_plan for a plan that has no shape.
[[nodiscard]] double turns_in_a_row(const Plan& plan, int cpus);

/// The length of the plan's longest chain of messages, signals and publications in which each is
/// sent by a rank that has waited for the one before. Throws Errc::invalid_plan for a plan that
/// never ends. O(steps).
[[nodiscard]] std::uint32_t messages_in_a_row(const plan::Matching& matching);

/// About how long the ranks of a request that is oversubscribed need for the plan, in the machine's
/// unit: their work, spread over the CPUs, the turns and the messages that wait for each other.
/// `timeline`: the plan simulated as if each rank had a CPU, with activities.
[[nodiscard]] double time_in_turns(const Plan& plan, const Machine& machine,
                                   const PlanRequest& request, const Timeline& timeline);

} // namespace corymb::tune

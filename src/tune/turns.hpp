// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "plan/matching.hpp"

#include <corymb/plan.hpp>

namespace corymb::tune {

/// The steps of each rank in the order in which a team performs them (plan/send_ahead.hpp).
[[nodiscard]] Plan as_performed(Plan plan);

/// How often `cpus` CPUs, all at once, turn to another rank for one operation of many, when each
/// rank runs until it has to wait. Infinite for a plan that never ends.
[[nodiscard]] double turns_in_a_row(const plan::Matching& performed, int cpus);
/// The turns in a row of the performed plan of `plan`. Throws Errc::invalid_plan for a plan that
/// has no shape.
[[nodiscard]] double turns_in_a_row(const Plan& plan, int cpus);

} // namespace corymb::tune

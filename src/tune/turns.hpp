// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "plan/matching.hpp"

#include <corymb/plan.hpp>

namespace corymb::tune {

/// How often `cpus` CPUs, all at once, turn to another rank for one operation of many, when each
/// rank runs until it has to wait. Infinite for a plan that never ends.
[[nodiscard]] double turns_in_a_row(const plan::Matching& matching, int cpus);
/// Throws Errc::invalid_plan for a plan that has no shape.
[[nodiscard]] double turns_in_a_row(const Plan& plan, int cpus);

} // namespace corymb::tune

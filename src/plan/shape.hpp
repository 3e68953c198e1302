// SPDX-License-Identifier: Apache-2.0
// Checks each step by itself: the first part of the checker.
#pragma once

#include <corymb/plan.hpp>

namespace corymb::plan {

/// Verifies the plan's head, and each step: the step belongs to the operation, its fields are those
/// of its kind, its peer exists, and its blocks lie inside buffers that it may use. Everything else
/// in the checker and the simulator relies on this. Throws Errc::invalid_plan. O(steps).
void check_shape(const Plan& plan);

} // namespace corymb::plan

// SPDX-License-Identifier: Apache-2.0
// An evaluator of plans for the tests, written from the cost rules alone: it shares no code with
// the generators, the search or the simulator.
#pragma once

#include "plan/cost_view.hpp"

#include <corymb/plan.hpp>

namespace corymb::test {

/// Latest finish of a plan of line-sized messages when all ranks start at 0. A message costs its
/// sender `send`, is there when the send ends, and costs its receiver `receive` from the later of
/// that and its own clock. A publication costs the publisher the dearest of its sends; a reader
/// pays `receive`. Throws std::runtime_error on a deadlock.
double evaluate(const Plan& plan, const CostView& costs);

} // namespace corymb::test

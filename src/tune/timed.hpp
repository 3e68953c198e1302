// SPDX-License-Identifier: Apache-2.0
// Correction by timed runs: the model proposes, the machine decides.
#pragma once

#include <corymb/planner.hpp>

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

namespace corymb::tune {

/// One of the candidates that were run. Both times are in the model's unit if the callback measures
/// in it.
struct Timed {
    std::string name;
    double predicted = 0;
    double measured = 0;
};

struct TimedChoice {
    PlanChoice choice;        ///< The plan that was fastest when run; `predicted` as simulated.
    std::vector<Timed> timed; ///< All that were run, in the order of their predictions.
};

/// Times one execution of a plan on the placement of the request (a median, say). It must return a
/// positive finite number; what it throws passes through.
using TimePlan = std::function<double(const Plan&)>;

/// Plans the request, runs the `count` candidates with the best predictions whose plans differ, and
/// returns the fastest. Every plan that is run has passed check_plan. Throws as `make_plan`, and
/// Errc::invalid_argument for count 0 or a time that is no time.
[[nodiscard]] TimedChoice make_timed_plan(const Machine& machine, const PlanRequest& request,
                                          std::size_t count, const TimePlan& time);

} // namespace corymb::tune

// SPDX-License-Identifier: Apache-2.0
// All candidates for a request, simulated; the best of them, proved.
#pragma once

#include "plan/proven.hpp"
#include "tune/variant.hpp"

#include <corymb/planner.hpp>
#include <corymb/simulate.hpp>

#include <optional>
#include <stop_token>
#include <string>
#include <vector>

namespace corymb::tune {

/// The model's answer about a candidate.
struct Prediction {
    std::string name;
    Variant variant; ///< How its payload travels.
    double time = 0;
};

struct Portfolio {
    std::vector<Prediction> predictions;  ///< Every candidate, in order.
    std::optional<plan::ProvenPlan> best; ///< Its `algorithm` is the candidate's name.
    double predicted = 0;                 ///< Time of the best one.
};

/// How, and among what, the best plan is looked for.
struct Effort {
    /// Among few families that are fair on most machines, for a call that cannot wait.
    bool plain = false;
    /// A plan through cells is taken if it takes less than so many times as long as the best one.
    double slowdown_through_cells = 1;
    std::stop_token stop{};
};

/// Builds and simulates the family that `request.algorithm` names, or for "best" all that can win,
/// and proves the best plan. `request` must be `completed`. Deterministic. Throws
/// Errc::unknown_name, Errc::invalid_argument (the named algorithm does not do this),
/// Errc::invalid_plan (a family has made a plan that the checker refuses, which is a fault of the
/// library). Without a plan when it was asked to stop, or when no plain family has one.
[[nodiscard]] Portfolio build_portfolio(const Machine& machine, const PlanRequest& request,
                                        const Effort& effort = {});

/// About how long the ranks of a request that is oversubscribed need for the plan, in the machine's
/// unit: their work, spread over the CPUs, the turns and the messages that wait for each other.
/// `timeline`: the plan simulated as if each rank had a CPU, with activities.
[[nodiscard]] double time_in_turns(const Plan& plan, const Machine& machine,
                                   const PlanRequest& request, const Timeline& timeline);

} // namespace corymb::tune

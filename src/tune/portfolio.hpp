// SPDX-License-Identifier: Apache-2.0
// All candidates for a request, simulated; the best of them, proved.
#pragma once

#include "plan/proven.hpp"
#include "tune/variant.hpp"

#include <corymb/planner.hpp>
#include <corymb/simulate.hpp>

#include <cstddef>
#include <cstdint>
#include <stop_token>
#include <string>
#include <vector>

namespace corymb::tune {

/// A plan, and the model's answer about it.
struct Candidate {
    plan::ProvenPlan plan; ///< `algorithm` is the candidate's name.
    Variant variant;       ///< How its payload travels.
    double predicted = 0;
    double in_turns = 0; ///< Time when ranks take turns; only when oversubscribed, else 0.
};

/// The model's answer about a candidate.
struct Prediction {
    std::string name;
    Variant variant; ///< How its payload travels.
    double time = 0;
};

struct Portfolio {
    std::vector<Prediction> predictions; ///< Every candidate, in order.
    std::vector<Candidate> best;         ///< Best first, as many as asked for.
};

/// The set in which the best plan is looked for.
enum class Among : std::uint8_t {
    all,         ///< Every family, for a person to compare.
    may_be_best, ///< Without families that are only compared with.
    plain,       ///< Few families that are fair on most machines, for a call that cannot wait.
};

/// Builds and simulates the family that `request.algorithm` names, or all for "best", and keeps the
/// `keep` best plans. `request` must be `completed`. Deterministic. Throws Errc::unknown_name,
/// Errc::invalid_argument (the named algorithm does not do this), Errc::invalid_plan (a family has
/// made a plan that the checker refuses, which is a fault of the library). Without a plan when it
/// was asked to stop, or when no plain family has one.
[[nodiscard]] Portfolio build_portfolio(const Machine& machine, const PlanRequest& request,
                                        std::size_t keep, Among among = Among::all,
                                        const std::stop_token& stop = {});

/// About how long the ranks of a request that is oversubscribed need for the plan, in the machine's
/// unit: their work, spread over the CPUs, the turns and the messages that wait for each other.
/// `timeline`: the plan simulated as if each rank had a CPU, with activities.
[[nodiscard]] double time_in_turns(const Plan& plan, const Machine& machine,
                                   const PlanRequest& request, const Timeline& timeline);

} // namespace corymb::tune

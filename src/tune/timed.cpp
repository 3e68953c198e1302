// SPDX-License-Identifier: Apache-2.0
#include "tune/timed.hpp"

#include "tune/choice.hpp"
#include "tune/request.hpp"

#include <corymb/error.hpp>

#include <algorithm>
#include <cmath>

namespace corymb::tune {

TimedChoice make_timed_plan(const Machine& machine, const PlanRequest& request, std::size_t count,
                            const TimePlan& time) {
    if (count == 0) {
        throw Error(Errc::invalid_argument, "at least one candidate must be timed");
    }
    const PlanRequest full = completed(machine, request);
    // Families often agree on small groups; twice as many leaves room for equal plans.
    const Portfolio portfolio = build_portfolio(machine, full, 2 * count);
    TimedChoice result;
    std::vector<const Candidate*> distinct;
    for (const Candidate& candidate : portfolio.best) {
        const bool is_known =
            std::any_of(distinct.begin(), distinct.end(), [&](const Candidate* other) {
                return other->plan.steps == candidate.plan.steps;
            });
        if (!is_known && distinct.size() < count) {
            distinct.push_back(&candidate);
        }
    }
    const Candidate* fastest = nullptr;
    double least = 0;
    for (const Candidate* candidate : distinct) {
        const double measured = time(candidate->plan);
        if (!std::isfinite(measured) || measured <= 0) {
            throw Error(Errc::invalid_argument, "the measured time of plan \"" +
                                                    candidate->plan.algorithm +
                                                    "\" is not a positive number");
        }
        result.timed.push_back({candidate->plan.algorithm, candidate->predicted, measured});
        if (fastest == nullptr || measured < least) {
            fastest = candidate;
            least = measured;
        }
    }
    result.choice = choice_of(machine, full, portfolio, *fastest);
    return result;
}

} // namespace corymb::tune

// SPDX-License-Identifier: Apache-2.0
#include "plan/cost_view.hpp"
#include "plan/search/bounds.hpp"
#include "sim/curve.hpp"
#include "tune/choice.hpp"
#include "tune/request.hpp"

#include <corymb/planner.hpp>

#include <algorithm>

namespace corymb {

namespace {

/// The bound knows no batches. If the k-th send or receive in a row can cost less than the first,
/// it still holds after multiplication with the smallest factor, for all costs scale together.
/// A rank has at most `messages` in a row.
double cheapest_factor(const Machine& machine, int messages) {
    double least = 1;
    for (const auto* curves : {&machine.send_batch, &machine.fan_out, &machine.receive_batch}) {
        for (const Curve& curve : *curves) {
            const int last = curve.count.empty() ? 0 : curve.count.back() + 1;
            for (int count = 2; count <= std::min(last, messages); ++count) {
                least = std::min(least, sim::batch_factor(&curve, count));
            }
        }
    }
    return least;
}

bool shares_lines(const Plan& plan) {
    return std::ranges::any_of(plan.steps, [](const std::vector<Step>& steps) {
        return std::ranges::any_of(steps, [](const Step& step) {
            return step.kind == StepKind::publish || step.via == Mechanism::exchange;
        });
    });
}

/// The bounds are about messages with a line each way; one store that many read, or a line that
/// both write, can be faster.
Bound bound_of(const Machine& machine, const PlanRequest& request, const Plan& plan) {
    if (request.placement.size() == 1 || shares_lines(plan)) {
        return {0, "none"};
    }
    const CostView costs(machine, request.placement);
    const GenerateInput input{.costs = costs,
                              .machine = &machine,
                              .placement = request.placement,
                              .root = request.root,
                              .bytes = request.bytes,
                              .ordered = request.ordered,
                              .seed = request.seed,
                              .moves = request.moves};
    Bound bound = lower_bound(request.op, input);
    bound.value *= cheapest_factor(machine, static_cast<int>(request.placement.size()) - 1);
    return bound;
}

} // namespace

namespace tune {

PlanChoice choice_of(const Machine& machine, const PlanRequest& request, const Portfolio& portfolio,
                     const Candidate& candidate) {
    const Bound bound = bound_of(machine, request, *candidate.plan);
    PlanChoice choice;
    choice.plan = *candidate.plan;
    choice.placement = request.placement;
    choice.bytes = request.bytes;
    choice.predicted = candidate.predicted;
    choice.lower_bound = bound.value;
    choice.bound_kind = bound.kind;
    for (const Prediction& prediction : portfolio.predictions) {
        choice.portfolio.emplace_back(prediction.name, prediction.time);
    }
    choice.seed = request.seed;
    choice.moves = request.moves;
    return choice;
}

} // namespace tune

PlanChoice make_plan(const Machine& machine, const PlanRequest& request) {
    const PlanRequest full = tune::completed(machine, request);
    const tune::Portfolio portfolio = tune::build_portfolio(machine, full, 1);
    return tune::choice_of(machine, full, portfolio, portfolio.best.front());
}

} // namespace corymb

// SPDX-License-Identifier: Apache-2.0
#include "base/tuned.hpp"
#include "machine/model/curve.hpp"
#include "plan/cost_view.hpp"
#include "plan/search/bounds.hpp"
#include "tune/request.hpp"
#include "tune/search.hpp"

#include <corymb/planner.hpp>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

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
                least = std::min(least, batch_factor(&curve, count));
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

template <class Model>
PlanChoice choice_on(const Model& model, const PlanRequest& request) {
    const DecidingNumbers numbers;
    PlanChoice choice;
    choice.request = tune::completed(model, request);
    auto found = tune::find_plan(model, choice.request);
    if (choice.request.proven) {
        check_plan(found->plan, choice.request.ordered);
    }
    choice.plan = std::move(found->plan);
    choice.predicted = found->predicted;
    choice.noise_cost = found->noise_cost;
    for (const tune::Tried& tried : found->tried) {
        choice.portfolio.emplace_back(tune::name_of(tried.candidate), tried.time);
    }
    for (const TunedNumber& number : numbers.all()) {
        choice.decided.push_back(
            {std::string(number.name), number.value, std::string(to_string(number.origin))});
    }
    return choice;
}

} // namespace

PlanChoice make_plan(const Machine& machine, const PlanRequest& request) {
    return choice_on(machine, request);
}

PlanChoice make_plan(const Cluster& cluster, const PlanRequest& request) {
    return choice_on(cluster, request);
}

// The bounds are about messages with a line each way; one store that many read, or a line that both
// write, can be faster.
LowerBound lower_bound(const PlanChoice& choice, const Machine& machine) {
    const PlanRequest request = tune::completed(machine, choice.request);
    if (request.placement.size() == 1 || shares_lines(choice.plan)) {
        return {};
    }
    const CostView costs(machine, request.placement);
    const Bound bound = lower_bound(request.op, tune::input_of(costs, machine, request, {}));
    const int messages_most = static_cast<int>(request.placement.size()) - 1;
    return {bound.value * cheapest_factor(machine, messages_most), bound.kind};
}

} // namespace corymb

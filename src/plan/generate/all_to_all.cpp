// SPDX-License-Identifier: Apache-2.0
// A barrier without rounds: each rank raises one flag and looks at those of all others. Every rank
// reads n - 1 lines, but no rank waits for another to have been told. Where ranks take turns on
// CPUs that decides: a rank that gets its turn when all have arrived is through.
#include "plan/generate/family_list.hpp"

#include <vector>

namespace corymb::generate {

namespace {

bool applies(Collective op, const GenerateInput& input) {
    // n^2 steps, and as many readers of lines. Longer programs lose by more than turns cost.
    constexpr Rank ranks_max = 64;
    return op == Collective::barrier && input.costs.size() <= ranks_max;
}

Plan make(Collective op, const GenerateInput& input) {
    const Rank size = input.costs.size();
    Plan plan = start_plan(op, size, 0, {}, all_to_all.name);
    for (Rank rank = 0; size > 1 && rank < size; ++rank) {
        auto& steps = plan.steps[static_cast<std::size_t>(rank)];
        steps.push_back({.kind = StepKind::publish});
        // Each begins with its successor, so that no line is read by all at once.
        for (Rank distance = 1; distance < size; ++distance) {
            steps.push_back({.kind = StepKind::read, .peer = (rank + distance) % size});
        }
    }
    return plan;
}

} // namespace

constinit const Family all_to_all{
    .name = "all-to-all", .applies = applies, .make = make, .publishes = true};

} // namespace corymb::generate

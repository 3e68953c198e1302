// SPDX-License-Identifier: Apache-2.0
// Plans a barrier for a machine that is not here, proves it, and says how it would do there.
#include <corymb/machine.hpp>
#include <corymb/planner.hpp>
#include <corymb/simulate.hpp>

#include <cstdio>

int main() {
    const corymb::Machine machine = corymb::gallery_machine("smelt-e5v2-2x10");
    corymb::PlanRequest request;
    request.op = corymb::Collective::barrier;

    const corymb::PlanChoice choice = corymb::make_plan(machine, request);
    corymb::check_plan(choice.plan); // make_plan has done so; a plan from a file needs it.
    const corymb::Timeline timeline =
        corymb::simulate(choice.plan, machine, choice.request.placement);

    std::printf("%s on %s: %s, %.0f cycles (simulated), no less than %.0f\n", "barrier",
                machine.name.c_str(), choice.plan.algorithm.c_str(), timeline.makespan,
                corymb::lower_bound(choice, machine).value);
    for (const auto& [name, predicted] : choice.portfolio) {
        std::printf("  %-32s %8.0f\n", name.c_str(), predicted);
    }
}

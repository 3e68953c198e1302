// SPDX-License-Identifier: Apache-2.0
#include "plan/execution.hpp"
#include "plan/matching.hpp"
#include "plan/shape.hpp"
#include "tune/portfolio.hpp"

#include <corymb/simulate.hpp>

#include <algorithm>
#include <cmath>

namespace corymb::tune {

namespace {

/// To yield to a teammate and for that to find its word. Measured on one CPU of a virtual machine:
/// 690-760 ns between threads, 750-840 between processes.
constexpr double turn_ns = 700;

struct SwitchCounter {
    const plan::Matching& matching;
    Rank running = -1;
    std::uint64_t switches = 0;

    void perform(plan::StepNumber number) {
        const Rank rank = matching.rank_of(number);
        switches += rank != running ? 1 : 0;
        running = rank;
    }
    void complete(plan::StepNumber) noexcept {}
};

} // namespace

std::uint64_t context_switches(const Plan& plan) {
    plan::check_shape(plan);
    const plan::Matching matching(plan);
    SwitchCounter counter{matching};
    plan::Execution(matching, counter).run();
    return counter.switches;
}

double time_in_turns(const Plan& plan, const Machine& machine, const PlanRequest& request,
                     const Timeline& timeline) {
    double busy = 0;
    for (const auto& rank : timeline.ranks) {
        for (const Activity& activity : rank) {
            busy += activity.end - activity.begin;
        }
    }
    const bool has_unit = std::isfinite(machine.unit_ns) && machine.unit_ns > 0;
    const double turn = turn_ns / (has_unit ? machine.unit_ns : 1);
    const auto cpus = static_cast<double>(
        std::min<std::size_t>(static_cast<std::size_t>(request.cpus), request.placement.size()));
    return std::max(timeline.makespan, busy / cpus) +
           static_cast<double>(context_switches(plan)) * turn / cpus;
}

} // namespace corymb::tune

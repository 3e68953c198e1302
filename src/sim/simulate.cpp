// SPDX-License-Identifier: Apache-2.0
#include "plan/execution.hpp"
#include "plan/matching.hpp"
#include "plan/shape.hpp"
#include "sim/replay.hpp"

#include <corymb/error.hpp>
#include <corymb/simulate.hpp>

#include <string>
#include <utility>

namespace corymb {

namespace {

/// All ranks on one machine.
struct OneMachine {
    const sim::Charges& charges;
    [[nodiscard]] const sim::Charges& of(Rank) const noexcept { return charges; }
};

} // namespace

Timeline simulate(const Plan& plan, const Machine& machine, std::span<const int> placement,
                  std::uint64_t bytes, bool with_activities) {
    if (placement.size() != plan.steps.size()) {
        throw Error(Errc::invalid_argument, "placement has " + std::to_string(placement.size()) +
                                                " entries, but the plan " +
                                                std::to_string(plan.steps.size()) + " ranks");
    }
    plan::check_shape(plan);
    if (plan.op != Collective::barrier && bytes > plan.bytes_max) {
        throw Error(Errc::invalid_argument, "the payload has " + std::to_string(bytes) +
                                                " bytes, but the plan is for " +
                                                std::to_string(plan.bytes_max) + " at most");
    }
    const plan::Matching matching(plan);
    const sim::Charges charges(machine, placement, bytes);
    const OneMachine costs{charges};
    sim::Replay replay(matching, costs, bytes, with_activities);
    plan::Execution(matching, replay).run();
    Timeline timeline = std::move(replay).timeline();
    timeline.simulated_on = machine.name;
    return timeline;
}

} // namespace corymb

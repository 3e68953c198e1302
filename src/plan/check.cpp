// SPDX-License-Identifier: Apache-2.0
// The checker: its parts in the order in which they rely on each other.
#include "plan/copies.hpp"
#include "plan/data_flow.hpp"
#include "plan/execution.hpp"
#include "plan/happens_before.hpp"
#include "plan/limits.hpp"
#include "plan/matching.hpp"
#include "plan/proven.hpp"
#include "plan/refuse.hpp"
#include "plan/reuse.hpp"
#include "plan/shape.hpp"

#include <corymb/error.hpp>
#include <corymb/plan.hpp>

#include <algorithm>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace corymb {

namespace {

/// Notes the order of the steps beside executing them symbolically.
struct Recorder {
    plan::DataFlow& data;
    std::vector<plan::StepNumber> order;

    void perform(plan::StepNumber number) {
        order.push_back(number);
        data.perform(number);
    }
    void complete(plan::StepNumber) noexcept {}
};

void check_barrier(const plan::Matching& matching, const std::vector<plan::StepNumber>& order) {
    const auto [rank, unknown] = plan::unsynchronised(matching, order);
    if (rank >= 0) {
        plan::refuse(rank, "can leave the barrier before rank " + std::to_string(unknown) +
                               " has entered it");
    }
}

/// No range reaches over parts, and nothing waits in scratch.
bool moves_single_parts(const Plan& plan) {
    const auto in_one_part = [&plan](const Blocks& blocks) {
        return blocks.count == 0 || blocks.first / plan.block_count ==
                                        (blocks.first + blocks.count - 1) / plan.block_count;
    };
    return plan.scratch_blocks == 0 &&
           std::ranges::all_of(plan.steps, [&](const std::vector<Step>& steps) {
               return std::ranges::all_of(steps, [&](const Step& step) {
                   return in_one_part(step.from) && in_one_part(step.to);
               });
           });
}

/// Returns whether every block went straight to where it belongs. `plan` has a shape.
bool prove_one(const Plan& plan, bool ordered) {
    const plan::Matching matching(plan);
    if (plan.steps.size() > plan::rank_count_max || matching.step_count() > plan::step_count_max) {
        throw Error(Errc::invalid_plan, "plan: more than " + std::to_string(plan::rank_count_max) +
                                            " ranks or " + std::to_string(plan::step_count_max) +
                                            " steps can be simulated, but not proven");
    }
    plan::DataFlow data(matching, ordered);
    Recorder recorder{data, {}};
    recorder.order.reserve(matching.step_count());
    plan::Execution(matching, recorder).run();
    data.verify_results();
    if (plan.op == Collective::barrier) {
        check_barrier(matching, recorder.order);
    }
    plan::check_reuse(matching, recorder.order);
    return data.stays_in_place();
}

/// Returns whether the plan keeps parts.
bool prove(const Plan& plan, bool ordered) {
    plan::check_shape(plan);
    bool stays_in_place = prove_one(plan, ordered);
    if (plan::may_copy(plan)) {
        stays_in_place = prove_one(plan::all_copied(plan), ordered) && stays_in_place;
    }
    return !has_parts(plan.op) || (stays_in_place && moves_single_parts(plan));
}

} // namespace

void check_plan(const Plan& plan, bool ordered) {
    static_cast<void>(prove(plan, ordered));
}

bool keeps_parts(const Plan& plan) {
    return prove(plan, false);
}

namespace plan {

ProvenPlan::ProvenPlan(Plan plan, bool ordered)
    : plan_(std::make_shared<const Plan>(std::move(plan))), is_ordered_(ordered),
      keeps_parts_(prove(*plan_, ordered)) {}

ProvenPlan ProvenPlan::by_peer(Plan plan, bool is_ordered, bool keeps_parts) {
    return {std::make_shared<const Plan>(std::move(plan)), is_ordered, keeps_parts};
}

} // namespace plan

} // namespace corymb

// SPDX-License-Identifier: Apache-2.0
// The checker: its parts in the order in which they rely on each other.
#include "plan/data_flow.hpp"
#include "plan/execution.hpp"
#include "plan/happens_before.hpp"
#include "plan/matching.hpp"
#include "plan/refuse.hpp"
#include "plan/reuse.hpp"
#include "plan/shape.hpp"

#include <corymb/plan.hpp>

#include <string>
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

} // namespace

void check_plan(const Plan& plan, bool ordered) {
    plan::check_shape(plan);
    const plan::Matching matching(plan);
    plan::DataFlow data(matching, ordered);
    Recorder recorder{data, {}};
    recorder.order.reserve(matching.step_count());
    plan::Execution(matching, recorder).run();
    data.verify_results();
    if (plan.op == Collective::barrier) {
        check_barrier(matching, recorder.order);
    }
    plan::check_reuse(matching, recorder.order);
}

} // namespace corymb

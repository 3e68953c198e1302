// SPDX-License-Identifier: Apache-2.0
#include "plan/execution.hpp"
#include "plan/matching.hpp"
#include "plan/shape.hpp"
#include "tune/portfolio.hpp"

namespace corymb::tune {

namespace {

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

} // namespace corymb::tune

// SPDX-License-Identifier: Apache-2.0
// A proof is a type: it says what was proven, and there is none for a wrong plan.
#include "plan/proven.hpp"

#include "../team/sample_plans.hpp"

#include <corymb/error.hpp>

#include <gtest/gtest.h>

#include <type_traits>

namespace corymb {
namespace {

static_assert(!std::is_convertible_v<Plan, plan::ProvenPlan>);
static_assert(!std::is_default_constructible_v<plan::ProvenPlan>);

TEST(ProvenPlan, SaysWhatWasProven) {
    const Plan plan = team_test::star_broadcast(3, 0, 8, Mechanism::line);
    const plan::ProvenPlan proven(plan, true);
    EXPECT_EQ(*proven, plan);
    EXPECT_TRUE(proven.is_ordered());
    EXPECT_TRUE(proven.keeps_parts());
    EXPECT_FALSE(plan::ProvenPlan(plan).is_ordered()) << "it was not asked";
    const plan::ProvenPlan copy = proven;
    EXPECT_EQ(copy.get(), proven.get()) << "copies share the plan";
}

TEST(ProvenPlan, ThereIsNoneForAWrongPlan) {
    Plan plan = team_test::star_broadcast(3, 0, 8, Mechanism::line);
    plan.steps[2].clear();
    EXPECT_THROW(plan::ProvenPlan{plan}, Error);
}

TEST(ProvenPlan, KnowsWhetherThePlanKeepsParts) {
    // Rank 1's part goes through scratch on its way to the root.
    Plan plan = team_test::empty_plan(Collective::gather, 2, 0, 8, 1, "detour");
    plan.scratch_blocks = 1;
    const Blocks in{Buffer::input, 0, 1}, between{Buffer::scratch, 0, 1};
    plan.steps[0] = {
        team_test::step(StepKind::copy, Mechanism::none, -1, in, {Buffer::output, 0, 1}),
        team_test::step(StepKind::recv, Mechanism::line, 1, {}, {Buffer::output, 1, 1})};
    plan.steps[1] = {team_test::step(StepKind::copy, Mechanism::none, -1, in, between),
                     team_test::step(StepKind::send, Mechanism::line, 0, between)};
    EXPECT_FALSE(plan::ProvenPlan(plan).keeps_parts());
    EXPECT_EQ(plan::ProvenPlan(plan).keeps_parts(), keeps_parts(plan));
}

} // namespace
} // namespace corymb

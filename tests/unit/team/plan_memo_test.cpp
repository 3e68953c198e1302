// SPDX-License-Identifier: Apache-2.0
#include "team/plan_memo.hpp"

#include <gtest/gtest.h>

#include <cstddef>
#include <memory>
#include <utility>
#include <vector>

namespace corymb::team {
namespace {

PlanOrigin origin_of(int size) {
    PlanOrigin origin;
    origin.cpus = {0, 1, 77'777}; // No other test's.
    origin.size = size;
    origin.key = {Collective::broadcast, 1, 64};
    return origin;
}

/// Nobody looks at the steps.
plan::ProvenPlan plan_named(const char* name, std::size_t steps = 1) {
    Plan plan;
    plan.algorithm = name;
    plan.steps.assign(1, std::vector<Step>(steps));
    return plan::ProvenPlan::by_peer(std::move(plan), false, false);
}

TEST(PlanMemo, KnowsPlansByAllThatTheyDependOn) {
    const PlanOrigin origin = origin_of(5);
    EXPECT_FALSE(remembered_plan(origin));
    remember_plan(origin, plan_named("first"), false, 100);
    remember_plan(origin, plan_named("second"), false);
    ASSERT_TRUE(remembered_plan(origin));
    EXPECT_EQ(remembered_plan(origin)->plan->algorithm, "first");
    EXPECT_EQ(remembered_plan(origin)->search_ns, 100);
    for (auto change : {+[](PlanOrigin& other) { other.size = 6; },
                        +[](PlanOrigin& other) { other.are_processes = true; },
                        +[](PlanOrigin& other) { other.pull = false; },
                        +[](PlanOrigin& other) { other.usable = 7; },
                        +[](PlanOrigin& other) { other.cpus.pop_back(); },
                        +[](PlanOrigin& other) { other.cpu_of_rank = {0}; },
                        +[](PlanOrigin& other) { other.key.root = 2; },
                        +[](PlanOrigin& other) { other.key.bytes = 128; },
                        +[](PlanOrigin& other) {
                            other.key.ordered = true;
                        }}) {
        PlanOrigin other = origin;
        change(other);
        EXPECT_FALSE(remembered_plan(other));
    }
}

TEST(PlanMemo, TheBestPlanReplacesAnother) {
    const PlanOrigin origin = origin_of(7);
    remember_plan(origin, plan_named("fair"), false);
    EXPECT_EQ(remember_plan(origin, plan_named("best"), true)->plan->algorithm, "best");
    remember_plan(origin, plan_named("late"), false);
    remember_plan(origin, plan_named("second best"), true);
    ASSERT_TRUE(remembered_plan(origin));
    EXPECT_EQ(remembered_plan(origin)->plan->algorithm, "best");
    EXPECT_TRUE(remembered_plan(origin)->is_best);
}

TEST(PlanMemo, ForgetsWhatWasNotAskedForForTheLongestTime) {
    const std::size_t third = 120'000;
    remember_plan(origin_of(1000), plan_named("used", third), false);
    remember_plan(origin_of(1001), plan_named("unused", third), false);
    EXPECT_TRUE(remembered_plan(origin_of(1000)));
    remember_plan(origin_of(1002), plan_named("new", third), false);
    EXPECT_TRUE(remembered_plan(origin_of(1000)));
    EXPECT_FALSE(remembered_plan(origin_of(1001)));
    EXPECT_TRUE(remembered_plan(origin_of(1002)));
    remember_plan(origin_of(1003), plan_named("too large", 3 * third), false);
    EXPECT_FALSE(remembered_plan(origin_of(1003)));
    EXPECT_TRUE(remembered_plan(origin_of(1002)));
}

} // namespace
} // namespace corymb::team

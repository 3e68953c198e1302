// SPDX-License-Identifier: Apache-2.0
#include "team/plan_memo.hpp"

#include <gtest/gtest.h>

namespace corymb::team {
namespace {

PlanOrigin origin_of(int size) {
    PlanOrigin origin;
    origin.cpus = {0, 1, 77'777}; // No other test's.
    origin.size = size;
    origin.key = {Collective::broadcast, 1, 64};
    return origin;
}

Plan plan_named(const char* name) {
    Plan plan;
    plan.algorithm = name;
    return plan;
}

TEST(PlanMemo, KnowsPlansByAllThatTheyDependOn) {
    const PlanOrigin origin = origin_of(5);
    EXPECT_FALSE(remembered_plan(origin));
    remember_plan(origin, plan_named("first"));
    remember_plan(origin, plan_named("second"));
    ASSERT_TRUE(remembered_plan(origin));
    EXPECT_EQ(remembered_plan(origin)->algorithm, "first");
    for (auto change : {+[](PlanOrigin& other) { other.size = 6; },
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

TEST(PlanMemo, DoesNotGrowWithoutEnd) {
    Plan large = plan_named("large");
    large.steps.assign(1, std::vector<Step>(60'000));
    remember_plan(origin_of(1000), large);
    remember_plan(origin_of(1001), large);
    EXPECT_FALSE(remembered_plan(origin_of(1001)));
}

} // namespace
} // namespace corymb::team

// SPDX-License-Identifier: Apache-2.0
// Messages that take a copy along, and which acknowledgements may be left out.
#include "plan/copies.hpp"

#include "../team/sample_plans.hpp"

#include <corymb/error.hpp>
#include <corymb/team.hpp>

#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace corymb {
namespace {

using enum StepKind;
using enum Mechanism;
using team_test::empty_plan;
using team_test::input;
using team_test::output;
using team_test::step;

/// Each of two ranks lends the other one a block and waits until it has been read.
Plan lends_both_ways() {
    Plan plan = empty_plan(Collective::alltoall, 2, 0, any_part_bytes, 1, "lends");
    for (const Rank rank : {0, 1}) {
        const Rank peer = 1 - rank;
        const auto own = static_cast<std::uint32_t>(rank);
        const auto theirs = static_cast<std::uint32_t>(peer);
        plan.steps[static_cast<std::size_t>(rank)] = {
            step(send, pull, peer, input(theirs)), step(copy, none, -1, input(own), output(own)),
            step(recv, pull, peer, {}, output(theirs)), step(signal, none, peer),
            step(wait, none, peer)};
    }
    return plan;
}

TEST(Copies, OneForEachMessage) {
    const Plan plan = lends_both_ways();
    ASSERT_TRUE(plan::acknowledges_one_by_one(plan));
    EXPECT_EQ(plan::acknowledged_message(plan, 0, 3), 2u);
    EXPECT_EQ(plan::acknowledged_message(plan, 0, 4), 0u);
    EXPECT_TRUE(plan::acknowledges_one_by_one(
        team_test::star_broadcast(3, 0, any_part_bytes, Mechanism::pull)));
}

TEST(Copies, NotIfTheyMayMeanMore) {
    const auto without = [](auto change) {
        Plan plan = lends_both_ways();
        change(plan.steps[0], plan.steps[1]);
        return plan::acknowledges_one_by_one(plan);
    };
    using Steps = std::vector<Step>;
    EXPECT_FALSE(without([](Steps& one, Steps&) { std::swap(one[3], one[4]); }));
    EXPECT_FALSE(without([](Steps& one, Steps&) { std::swap(one[2], one[3]); }));
    EXPECT_FALSE(without([](Steps& one, Steps&) { one.push_back(one[1]); }));
    EXPECT_FALSE(without([](Steps& one, Steps&) { one[0].via = Mechanism::cells; }));
    EXPECT_FALSE(without([](Steps& one, Steps&) { one.pop_back(); }));
    EXPECT_FALSE(without([](Steps& one, Steps&) { one.insert(one.begin(), one[0]); }));
    // Three ranks, of which each waits for one: that one stands for the other, too.
    Plan ring = empty_plan(Collective::alltoall, 3, 0, any_part_bytes, 1, "ring");
    for (Rank rank = 0; rank < 3; ++rank) {
        const Rank next = (rank + 1) % 3;
        const Rank last = (rank + 2) % 3;
        ring.steps[static_cast<std::size_t>(rank)] = {
            step(send, pull, next, input(static_cast<std::uint32_t>(next))),
            step(send, pull, last, input(static_cast<std::uint32_t>(last))),
            step(recv, pull, last, {}, output(static_cast<std::uint32_t>(last))),
            step(recv, pull, next, {}, output(static_cast<std::uint32_t>(next))),
            step(signal, none, next),
            step(wait, none, last)};
    }
    EXPECT_FALSE(plan::acknowledges_one_by_one(ring));
}

TEST(Copies, AreMarkedAndProven) {
    const Plan plan = lends_both_ways();
    const Plan copying = plan::with_copies(plan, 64, 32);
    EXPECT_EQ(copying.copied_cells, 32U) << "as many as the channel holds";
    EXPECT_EQ(copying.cell_slots, 32U);
    EXPECT_EQ(copying.steps[0][3].via, pull);
    EXPECT_EQ(copying.steps[0][4].via, pull);
    check_plan(copying);
    EXPECT_TRUE(keeps_parts(copying));
    EXPECT_EQ(plan_from_json(to_json(copying)), copying);
    EXPECT_NE(plan_hash(copying), plan_hash(plan));
    // The other extreme: nothing is lent, so nobody acknowledges.
    const Plan copied = plan::all_copied(copying);
    EXPECT_EQ(copied.steps[0].size(), 3U);
    check_plan(copied);
}

TEST(Copies, OnlyPlansForAnyLengthThatLend) {
    Plan plan = lends_both_ways();
    plan.bytes_max = 1 << 20;
    EXPECT_EQ(plan::with_copies(plan, 4, 32), plan);
    Plan cells_only = team_test::star_broadcast(3, 0, any_part_bytes, cells);
    EXPECT_EQ(plan::with_copies(cells_only, 4, 32), cells_only);
}

TEST(Copies, ArePlansThatTheCheckerLooksAt) {
    const auto refusal = [](auto change) -> std::string {
        Plan plan = plan::with_copies(lends_both_ways(), 4, 32);
        change(plan);
        try {
            check_plan(plan);
        } catch (const Error& error) {
            return error.what();
        }
        return "";
    };
    EXPECT_EQ(refusal([](Plan&) {}), "");
    EXPECT_NE(refusal([](Plan& plan) { plan.copied_cells = 9; }).find("do not hold all copies"),
              std::string::npos);
    EXPECT_NE(refusal([](Plan& plan) { plan.bytes_max = 8; }).find("any length"),
              std::string::npos);
    const char* const not_one_by_one = "one by one";
    EXPECT_NE(
        refusal([](Plan& plan) { plan.steps[0].push_back(plan.steps[0][1]); }).find(not_one_by_one),
        std::string::npos);
    EXPECT_NE(refusal([](Plan& plan) {
                  plan.steps[0][3].via = plan.steps[1][4].via = Mechanism::none;
              }).find(not_one_by_one),
              std::string::npos);
}

} // namespace
} // namespace corymb

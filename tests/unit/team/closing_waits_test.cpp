// SPDX-License-Identifier: Apache-2.0
// Which acknowledgements may be left out.
#include "team/closing_waits.hpp"

#include "sample_plans.hpp"

#include <corymb/team.hpp>

#include <gtest/gtest.h>

#include <cstdint>
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
        const auto theirs = static_cast<std::uint32_t>(peer);
        plan.steps[static_cast<std::size_t>(rank)] = {
            step(send, pull, peer, input(theirs)), step(copy, none, -1, input(0), output(0)),
            step(recv, pull, peer, {}, output(theirs)), step(signal, none, peer),
            step(wait, none, peer)};
    }
    return plan;
}

TEST(ClosingWaits, OneForEachMessage) {
    const Plan plan = lends_both_ways();
    ASSERT_TRUE(team::acknowledges_one_by_one(plan));
    EXPECT_EQ(team::acknowledged_message(plan, 0, 3), 2u);
    EXPECT_EQ(team::acknowledged_message(plan, 0, 4), 0u);
    EXPECT_TRUE(team::acknowledges_one_by_one(
        team_test::star_broadcast(3, 0, any_part_bytes, Mechanism::pull)));
}

TEST(ClosingWaits, NotIfTheyMayMeanMore) {
    const auto without = [](auto change) {
        Plan plan = lends_both_ways();
        change(plan.steps[0], plan.steps[1]);
        return team::acknowledges_one_by_one(plan);
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
    EXPECT_FALSE(team::acknowledges_one_by_one(ring));
}

} // namespace
} // namespace corymb

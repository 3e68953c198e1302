// SPDX-License-Identifier: Apache-2.0
// Which sends come earlier than in the plan, and which acknowledgements may be left out.
#include "plan/send_ahead.hpp"
#include "team/closing_waits.hpp"

#include "sample_plans.hpp"

#include <corymb/team.hpp>

#include <gtest/gtest.h>

#include <cstddef>
#include <vector>

namespace corymb {
namespace {

using enum StepKind;
using enum Mechanism;
using team_test::empty_plan;
using team_test::step;
using Order = std::vector<std::size_t>;

constexpr Blocks input(std::uint32_t first, std::uint32_t count = 1) {
    return {Buffer::input, first, count};
}
constexpr Blocks output(std::uint32_t first, std::uint32_t count = 1) {
    return {Buffer::output, first, count};
}

/// Of a plan with the steps for rank 0, in a channel of so many slots.
Order order_of(std::vector<Step> steps, std::size_t slots, std::uint64_t bytes = 4 * cell_bytes) {
    Plan plan = empty_plan(Collective::allreduce, 3, 0, bytes, 4, "steps");
    plan.steps[0] = std::move(steps);
    return plan::order_with_sends_ahead(plan, 0, [slots](Rank) { return slots; });
}

TEST(SendAhead, SendsComeBeforeReceiptsThatDoNotConcernThem) {
    EXPECT_EQ(order_of({step(send, cells, 1, input(0)), step(recv, cells, 1, {}, output(0)),
                        step(copy, none, -1, input(3), output(3)), step(send, cells, 1, input(1)),
                        step(fold, line, 2, input(1), output(1)), step(send, cells, 2, input(2))},
                       256),
              (Order{0, 3, 5, 1, 2, 4}));
}

TEST(SendAhead, WhatIsWrittenFirstIsSentAfterwards) {
    EXPECT_EQ(order_of({step(recv, cells, 1, {}, output(0, 2)), step(recv, cells, 1, {}, output(2)),
                        step(send, cells, 2, output(1)), step(send, cells, 2, output(3))},
                       256),
              (Order{0, 2, 3, 1}));
    EXPECT_EQ(
        order_of({step(copy, none, -1, input(0), output(0)), step(send, cells, 1, output(0, 4))},
                 256),
        (Order{0, 1}));
}

TEST(SendAhead, NothingElseIsPassed) {
    for (const Step& other : {step(signal, none, 1), step(wait, none, 1),
                              step(send, pull, 1, input(1)), step(send, line, 2, input(1)),
                              step(publish, line, -1, input(1)), step(read, line, 1, {}, output(1)),
                              step(offer, push, 1, {}, output(1)), step(put, push, 1, input(1))}) {
        EXPECT_EQ(
            order_of({step(recv, cells, 1, {}, output(0)), other, step(send, cells, 1, input(0))},
                     256),
            (Order{0, 1, 2}))
            << to_string(other.kind);
    }
}

TEST(SendAhead, NoMoreThanTheChannelHolds) {
    const std::vector<Step> turns{
        step(send, cells, 1, input(0)), step(recv, cells, 1, {}, output(0)),
        step(send, cells, 1, input(1)), step(recv, cells, 1, {}, output(1)),
        step(send, cells, 1, input(2)), step(recv, cells, 1, {}, output(2))};
    // Blocks of one cell, which may need two: what is left over for a second is counted, too.
    EXPECT_EQ(order_of(turns, 12), (Order{0, 2, 4, 1, 3, 5}));
    EXPECT_EQ(order_of(turns, 11), (Order{0, 2, 1, 3, 4, 5}));
    EXPECT_EQ(order_of(turns, 4), (Order{0, 1, 2, 3, 4, 5}));
    EXPECT_EQ(order_of(turns, 256, any_part_bytes), (Order{0, 1, 2, 3, 4, 5}));
    // What does not fit holds back all that follows it.
    EXPECT_EQ(order_of({step(recv, cells, 1, {}, output(0)), step(send, cells, 1, input(0, 4)),
                        step(recv, cells, 1, {}, output(1)), step(send, cells, 1, input(1))},
                       8),
              (Order{0, 1, 2, 3}));
}

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

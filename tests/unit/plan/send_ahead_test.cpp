// SPDX-License-Identifier: Apache-2.0
// Which sends come earlier than in the plan.
#include "plan/send_ahead.hpp"

#include "../team/sample_plans.hpp"
#include "base/cache_line.hpp"
#include "base/random.hpp"

#include <corymb/team.hpp>

#include <gtest/gtest.h>

#include <cstddef>
#include <vector>

namespace corymb {
namespace {

using enum StepKind;
using enum Mechanism;
using team_test::empty_plan;
using team_test::input;
using team_test::output;
using team_test::step;
using Order = std::vector<std::size_t>;

/// Of a plan with the steps for rank 0, in a channel of so many slots.
Order order_of(std::vector<Step> steps, std::size_t slots, std::uint64_t bytes = 4 * cell_bytes) {
    Plan plan = empty_plan(Collective::allreduce, 3, 0, bytes, 4, "steps");
    plan.steps[0] = std::move(steps);
    return plan::order_with_sends_ahead(plan, 0, [slots](Rank) { return slots; });
}

bool may_be_passed(const Step& other, const Blocks& read) {
    const bool is_apart = other.to.buffer != read.buffer ||
                          other.to.first >= read.first + read.count ||
                          read.first >= other.to.first + other.to.count;
    return (other.kind == recv || other.kind == copy) && is_apart;
}

TEST(SendAhead, SendsComeBeforeReceiptsThatDoNotConcernThem) {
    EXPECT_EQ(order_of({step(send, cells, 1, input(0)), step(recv, cells, 1, {}, output(0)),
                        step(copy, none, -1, input(3), output(3)), step(send, cells, 1, input(1)),
                        step(fold, line, 2, input(1), output(1)), step(send, cells, 2, input(2))},
                       256),
              (Order{0, 3, 5, 1, 2, 4}));
}

TEST(SendAhead, LinesComeFirstAsFarAsTheyHaveSlots) {
    std::vector<Step> turns;
    for (std::uint32_t round = 0; round < line_slots + 2; ++round) {
        turns.push_back(step(recv, line, 1, {}, output(round)));
        turns.push_back(step(send, line, 1, input(round)));
    }
    turns.push_back(step(send, cells, 1, input(0)));
    EXPECT_EQ(order_of(turns, 256), (Order{1, 3, 5, 7, 0, 2, 4, 6, 8, 9, 10, 11, 12}));
    EXPECT_EQ(order_of({step(recv, line, 1, {}, output(0)), step(send, line, 2, output(0))}, 256),
              (Order{0, 1}));
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
                              step(send, pull, 1, input(1)), step(send, exchange, 2, input(1)),
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

/// Random steps, against the rule said plainly: a send goes before what it may pass, step by step.
TEST(SendAhead, GoesAsFarAsItMay) {
    Random random(1);
    const auto blocks = [&random](Buffer buffer) {
        return Blocks{buffer, random.below(6), 1 + random.below(3)};
    };
    for (int round = 0; round < 2000; ++round) {
        std::vector<Step> steps;
        Order expected;
        for (std::size_t index = 0; index < 12; ++index) {
            const auto kind = random.below(8);
            const auto written = random.below(2) == 0 ? Buffer::output : Buffer::scratch;
            steps.push_back(kind == 0   ? step(signal, none, 1)
                            : kind < 5  ? step(recv, cells, 2, {}, blocks(written))
                            : kind == 5 ? step(copy, none, -1, input(0), blocks(written))
                                        : step(send, cells, 1, blocks(written)));
            std::size_t place = expected.size();
            while (steps.back().kind == send && place > 0 &&
                   may_be_passed(steps[expected[place - 1]], steps.back().from)) {
                --place;
            }
            expected.insert(expected.begin() + static_cast<std::ptrdiff_t>(place), index);
        }
        ASSERT_EQ(order_of(steps, 1U << 14U, 4 * cache_line_bytes), expected) << round;
    }
}

} // namespace
} // namespace corymb

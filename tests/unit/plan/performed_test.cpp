// SPDX-License-Identifier: Apache-2.0
// Which sends come earlier than a generator says, and how much room the plan then counts on.
#include "plan/performed.hpp"

#include "../team/sample_plans.hpp"
#include "base/cache_line.hpp"
#include "base/random.hpp"
#include "plan/cells.hpp"

#include <corymb/team.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
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
using Order = std::vector<std::size_t>;

Plan plan_of(std::vector<Step> steps, std::uint64_t bytes = 4 * cell_bytes) {
    Plan plan = empty_plan(Collective::allreduce, 3, 0, bytes, 4, "steps");
    plan.steps[0] = std::move(steps);
    return plan;
}

/// The order in which rank 0 performs its steps, in channels of so many slots.
Order order_of(const std::vector<Step>& steps, std::uint32_t slots,
               std::uint64_t bytes = 4 * cell_bytes) {
    std::vector<bool> is_taken(steps.size(), false);
    Order order;
    const Plan plan = plan::performed(plan_of(steps, bytes), slots);
    for (const Step& performed : plan.steps[0]) {
        std::size_t index = 0;
        while (is_taken[index] || steps[index] != performed) {
            ++index;
        }
        is_taken[index] = true;
        order.push_back(index);
    }
    return order;
}

bool may_be_passed(const Step& other, const Blocks& read) {
    const bool is_apart = other.to.buffer != read.buffer ||
                          other.to.first >= read.first + read.count ||
                          read.first >= other.to.first + other.to.count;
    return (other.kind == recv || other.kind == copy) && is_apart;
}

TEST(Performed, SendsComeBeforeReceiptsThatDoNotConcernThem) {
    EXPECT_EQ(order_of({step(send, cells, 1, input(0)), step(recv, cells, 1, {}, output(0)),
                        step(copy, none, -1, input(3), output(3)), step(send, cells, 1, input(1)),
                        step(fold, line, 2, input(1), output(1)), step(send, cells, 2, input(2))},
                       256),
              (Order{0, 3, 5, 1, 2, 4}));
}

TEST(Performed, LinesComeFirstAsFarAsTheyHaveSlots) {
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

TEST(Performed, WhatIsWrittenFirstIsSentAfterwards) {
    EXPECT_EQ(order_of({step(recv, cells, 1, {}, output(0, 2)), step(recv, cells, 1, {}, output(2)),
                        step(send, cells, 2, output(1)), step(send, cells, 2, output(3))},
                       256),
              (Order{0, 2, 3, 1}));
    EXPECT_EQ(
        order_of({step(copy, none, -1, input(0), output(0)), step(send, cells, 1, output(0, 4))},
                 256),
        (Order{0, 1}));
}

TEST(Performed, NothingElseIsPassed) {
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

TEST(Performed, NoMoreThanTheChannelHolds) {
    const std::vector<Step> turns{
        step(send, cells, 1, input(0)), step(recv, cells, 1, {}, output(0)),
        step(send, cells, 1, input(1)), step(recv, cells, 1, {}, output(1)),
        step(send, cells, 1, input(2)), step(recv, cells, 1, {}, output(2))};
    // Blocks of one cell, which may need two: what is left over for a second is counted, too.
    EXPECT_EQ(order_of(turns, 6), (Order{0, 2, 4, 1, 3, 5}));
    EXPECT_EQ(order_of(turns, 5), (Order{0, 2, 1, 3, 4, 5}));
    EXPECT_EQ(order_of(turns, 2), (Order{0, 1, 2, 3, 4, 5}));
    EXPECT_EQ(order_of(turns, 256, any_part_bytes), (Order{0, 1, 2, 3, 4, 5}));
    // What does not fit holds back all that follows it.
    EXPECT_EQ(order_of({step(recv, cells, 1, {}, output(0)), step(send, cells, 1, input(0, 4)),
                        step(recv, cells, 1, {}, output(1)), step(send, cells, 1, input(1))},
                       6),
              (Order{0, 1, 2, 3}));
}

TEST(Performed, CountsOnNoMoreSlotsThanItUses) {
    const auto slots_of = [](std::uint32_t messages, std::uint32_t slots) {
        std::vector<Step> steps;
        for (std::uint32_t i = 0; i < messages; ++i) {
            steps.push_back(step(send, cells, 1, input(0)));
        }
        return plan::performed(plan_of(std::move(steps)), slots).cell_slots;
    };
    EXPECT_EQ(slots_of(0, 256), cell_slots_least);
    EXPECT_EQ(slots_of(4, 256), cell_slots_least);
    EXPECT_EQ(slots_of(5, 256), 10) << "two for each block of one cell";
    EXPECT_EQ(slots_of(200, 256), 256);
}

/// Elements of any length up to a cell, cut into blocks and cells as the engine does.
TEST(Performed, NoMessageTakesMoreCellsThanItsPlanCountsOn) {
    Random random(2);
    for (int round = 0; round < 20'000; ++round) {
        const std::uint32_t blocks = 1 + random.below(9);
        const std::uint32_t moved = 1 + random.below(blocks);
        const std::uint64_t element = 1 + random.below(static_cast<std::uint32_t>(cell_bytes));
        const std::uint64_t elements = 1 + random.below(64);
        const std::uint64_t each = (elements + blocks - 1) / blocks;
        const std::uint64_t in_a_cell = cell_bytes / element;
        const std::uint64_t message = std::min(moved * each, elements);
        Plan plan = plan_of({}, elements * element);
        plan.block_count = blocks;
        EXPECT_LE((message + in_a_cell - 1) / in_a_cell, plan::cells_of(plan, input(0, moved)))
            << elements << " elements of " << element << " bytes, " << moved << " of " << blocks;
    }
}

/// Random steps, against the rule said plainly: a send goes before what it may pass, step by step.
TEST(Performed, GoesAsFarAsItMay) {
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

// SPDX-License-Identifier: Apache-2.0
// Which part stands in which place of scratch, from the steps of a plan alone.
#include "plan/part_names.hpp"
#include "sample_plans.hpp"

#include <corymb/error.hpp>
#include <corymb/plan.hpp>

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace {

using namespace corymb;
using namespace corymb::test;
using plan::no_part;
using plan::PartName;

constexpr Mechanism cells = Mechanism::cells;
constexpr Blocks own{Buffer::input, 0, 1};

Blocks scratch(std::uint32_t first, std::uint32_t count = 1) {
    return {Buffer::scratch, first, count};
}
Blocks output(std::uint32_t first, std::uint32_t count = 1) {
    return {Buffer::output, first, count};
}

/// Rank 1 collects the parts of ranks 2 and 1, in this order, and hands both to rank 0.
Plan gather_through_one() {
    Plan plan = empty_plan(Collective::gather, 3, 1, 100);
    plan.scratch_blocks = 5;
    plan.steps[0] = {make_step(StepKind::copy, -1, Mechanism::none, own, output(0)),
                     make_step(StepKind::recv, 1, cells, {}, scratch(0, 2)),
                     make_step(StepKind::copy, -1, Mechanism::none, scratch(0), output(2)),
                     make_step(StepKind::copy, -1, Mechanism::none, scratch(1), output(1))};
    plan.steps[1] = {make_step(StepKind::recv, 2, cells, {}, scratch(3)),
                     make_step(StepKind::copy, -1, Mechanism::none, own, scratch(4)),
                     make_step(StepKind::send, 0, cells, scratch(3, 2))};
    plan.steps[2] = {make_step(StepKind::send, 1, cells, own)};
    check_plan(plan);
    return plan;
}

std::string refused(const Plan& plan) {
    try {
        static_cast<void>(plan::PartNames(plan));
    } catch (const Error& error) {
        EXPECT_EQ(error.code(), Errc::invalid_plan);
        return error.what();
    }
    return "";
}

TEST(PartNames, FollowPartsThroughScratch) {
    const Plan plan = gather_through_one();
    const plan::PartNames names(plan);
    EXPECT_EQ(names.in_scratch(0), (std::vector<PartName>{2, 1}));
    EXPECT_EQ(names.in_scratch(1), (std::vector<PartName>{no_part, no_part, no_part, 2, 1}));
    EXPECT_EQ(names.in_scratch(2), std::vector<PartName>{});
    EXPECT_FALSE(keeps_parts(plan)); // Which is for plans without scratch.
}

TEST(PartNames, OfAnAlltoallAreGiverAndTaker) {
    Plan plan = empty_plan(Collective::alltoall, 3, 1, 100);
    EXPECT_EQ(plan::part_of(plan, 2, Buffer::input, 1), 2u * 3 + 1);
    EXPECT_EQ(plan::part_of(plan, 2, Buffer::output, 1), 1u * 3 + 2);
    plan.op = Collective::reduce_scatter;
    EXPECT_EQ(plan::part_of(plan, 2, Buffer::input, 1), 1u);
    EXPECT_EQ(plan::part_of(plan, 2, Buffer::output, 0), 2u);
}

/// Right with parts of equal lengths, where it does not matter that they share a place.
TEST(PartNames, RefuseAPlaceOfTwoParts) {
    Plan plan = gather_through_one();
    plan.steps[1] = {make_step(StepKind::recv, 2, cells, {}, scratch(0)),
                     make_step(StepKind::send, 0, cells, scratch(0)),
                     make_step(StepKind::copy, -1, Mechanism::none, own, scratch(0)),
                     make_step(StepKind::send, 0, cells, scratch(0))};
    plan.steps[0][1] = make_step(StepKind::recv, 1, cells, {}, output(2));
    plan.steps[0][2] = make_step(StepKind::recv, 1, cells, {}, output(1));
    plan.steps[0].pop_back();
    check_plan(plan);
    const std::string text = refused(plan);
    EXPECT_NE(text.find("into one place that may differ in length"), std::string::npos) << text;
    EXPECT_NE(text.find("step"), std::string::npos) << text;
}

TEST(PartNames, RefuseAReadOfAPartOfAPublication) {
    Plan plan = empty_plan(Collective::scatter, 2, 1, 100);
    plan.steps[0] = {
        make_step(StepKind::publish, -1, Mechanism::pull, {Buffer::input, 0, 2}),
        make_step(StepKind::copy, -1, Mechanism::none, {Buffer::input, 0, 1}, output(0)),
        make_step(StepKind::wait, 1)};
    plan.steps[1] = {make_step(StepKind::read, 0, Mechanism::pull, {}, output(0)),
                     make_step(StepKind::signal, 0)};
    plan.steps[1].front().offset = 1;
    check_plan(plan);
    try {
        static_cast<void>(plan::PartNames(plan));
        ADD_FAILURE() << "accepted";
    } catch (const Error& error) {
        EXPECT_EQ(error.code(), Errc::invalid_plan);
        EXPECT_NE(std::string(error.what()).find("rank 1, step 0"), std::string::npos)
            << error.what();
        EXPECT_NE(std::string(error.what()).find("a part of a publication"), std::string::npos)
            << error.what();
    }
}

TEST(PartNames, RefuseBlocksAndOperationsWithoutParts) {
    EXPECT_NE(refused(empty_plan(Collective::allgather, 2, 2, 100)), "");
    EXPECT_NE(refused(empty_plan(Collective::allreduce, 2, 1, 100)), "");
}

} // namespace

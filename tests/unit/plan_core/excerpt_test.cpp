// SPDX-License-Identifier: Apache-2.0
// Reads that take a part of a publication: proved, run by an independent executor, written down,
// and refused where they take what is not there.
#include "plan/plan_bytes.hpp"
#include "random_execution.hpp"
#include "refusal.hpp"
#include "sample_plans.hpp"

#include <corymb/plan.hpp>

#include <gtest/gtest.h>

#include <cstdint>
#include <string>

namespace {

using namespace corymb;
using namespace corymb::test;

constexpr Mechanism pull = Mechanism::pull;

/// The root publishes where all parts lie, and each of the others takes its own.
Plan scatter_by_one_address(Rank size, std::uint32_t blocks) {
    Plan plan = empty_plan(Collective::scatter, size, blocks, 5000);
    const auto all = static_cast<std::uint32_t>(size) * blocks;
    plan.steps[0] = {make_step(StepKind::publish, -1, pull, {Buffer::input, 0, all}),
                     make_step(StepKind::copy, -1, Mechanism::none, {Buffer::input, 0, blocks},
                               {Buffer::output, 0, blocks})};
    for (Rank rank = 1; rank < size; ++rank) {
        Step read = make_step(StepKind::read, 0, pull, {}, {Buffer::output, 0, blocks});
        read.offset = static_cast<std::uint32_t>(rank) * blocks;
        plan.steps[static_cast<std::size_t>(rank)] = {read, make_step(StepKind::signal, 0)};
        plan.steps[0].push_back(make_step(StepKind::wait, rank));
    }
    return plan;
}

TEST(Excerpt, TakesAPartOfAPublication) {
    for (const std::uint32_t blocks : {1u, 3u}) {
        const Plan plan = scatter_by_one_address(4, blocks);
        EXPECT_EQ(refusal(plan), "");
        EXPECT_FALSE(keeps_parts(plan)); // Readers do not know where parts of any length begin.
        for (std::uint64_t seed = 0; seed < 20; ++seed) {
            const Outcome outcome = RandomExecution(plan, seed, true).run(false);
            EXPECT_TRUE(outcome.finished);
            EXPECT_EQ(outcome.wrong, "");
        }
        EXPECT_EQ(plan_from_json(to_json(plan)), plan);
        EXPECT_EQ(plan::plan_from_bytes(plan::to_bytes(plan)), plan);
        Plan other = plan;
        other.steps[2].front().offset = blocks;
        EXPECT_NE(plan_hash(other), plan_hash(plan));
    }
}

TEST(Excerpt, IsRefusedWhereItTakesWhatIsNotThere) {
    const auto with = [](auto change) {
        Plan plan = scatter_by_one_address(4, 2);
        change(plan.steps[2].front());
        return refusal(plan);
    };
    EXPECT_NE(with([](Step& s) { s.offset = 7; }).find("from place 7 on"), std::string::npos);
    EXPECT_NE(with([](Step& s) { s.offset = 8; }).find("from place 8 on"), std::string::npos);
    EXPECT_NE(with([](Step& s) { s.offset = ~0U; }).find("from place"), std::string::npos);
    EXPECT_NE(with([](Step& s) { s.offset = 3; }).find("from place 3 on"), std::string::npos);
    EXPECT_NE(with([](Step& s) { s.offset = 2; }).find("ends without"), std::string::npos);
    EXPECT_NE(with([](Step& s) { s.to.count = 1; }).find("ends without"), std::string::npos);
}

TEST(Excerpt, IsTakenOfNothingThatLiesInALine) {
    Plan plan = scatter_by_one_address(3, 1);
    plan.bytes_max = 8;
    for (auto& steps : plan.steps) {
        steps.front().via = Mechanism::line;
    }
    EXPECT_NE(refusal(plan).find("publishes 3 blocks via line"), std::string::npos)
        << refusal(plan);
}

TEST(Excerpt, BelongsToReadsAlone) {
    Plan plan = scatter_by_one_address(3, 1);
    plan.steps[1].back().offset = 1;
    EXPECT_NE(refusal(plan).find("offset"), std::string::npos);
}

/// Each of two ranks sums one of two blocks up, rank 0 block `first`, and gets the other.
Plan sum_of_halves(std::uint32_t first) {
    Plan plan = empty_plan(Collective::allreduce, 2, 2, 5000);
    plan.steps[0] = {make_step(StepKind::publish, -1, pull, {Buffer::input, 0, 2})};
    plan.steps[1] = {make_step(StepKind::publish, -1, pull, {Buffer::input, 0, 2})};
    for (const Rank rank : {0, 1}) {
        auto& steps = plan.steps[static_cast<std::size_t>(rank)];
        const std::uint32_t block = rank == 0 ? first : 1 - first;
        Step fold = make_step(StepKind::read_fold, 1 - rank, pull, {Buffer::input, block, 1},
                              {Buffer::output, block, 1});
        fold.offset = block;
        fold.incoming_first = rank == 1;
        steps.push_back(fold);
        const Blocks done{Buffer::output, block, 1};
        const Blocks missing{Buffer::output, 1 - block, 1};
        steps.push_back(make_step(StepKind::signal, 1 - rank));
        steps.push_back(make_step(StepKind::wait, 1 - rank));
        steps.push_back(make_step(StepKind::send, 1 - rank, pull, done));
        steps.push_back(make_step(StepKind::recv, 1 - rank, pull, {}, missing));
        steps.push_back(make_step(StepKind::signal, 1 - rank));
        steps.push_back(make_step(StepKind::wait, 1 - rank));
    }
    return plan;
}

TEST(Excerpt, HoldsUpTheOverwritingOfItsOwnBlocksOnly) {
    // Each rank writes over the block that the other does not read, before the other has read.
    EXPECT_EQ(refusal(sum_of_halves(0), true), "");
    EXPECT_EQ(refusal(sum_of_halves(1), true), "");
    // Each reads all of what the other overwrites.
    Plan whole = sum_of_halves(0);
    for (auto& steps : whole.steps) {
        steps[1].offset = 0;
        steps[1].from = {Buffer::input, 0, 2};
        steps[1].to = {Buffer::output, 0, 2};
        steps.resize(4);
    }
    EXPECT_NE(refusal(whole, true).find("overwrites blocks"), std::string::npos)
        << refusal(whole, true);
}

} // namespace

// SPDX-License-Identifier: Apache-2.0
// Plans whose ranks write into each other's buffers: proved, run by an independent executor,
// refused once they are damaged.
#include "plan/generate/families.hpp"
#include "random_execution.hpp"
#include "refusal.hpp"
#include "sample_plans.hpp"

#include <corymb/plan.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <string>

namespace {

using namespace corymb;
using namespace corymb::test;

constexpr Mechanism push = Mechanism::push;
constexpr Mechanism pull = Mechanism::pull;
constexpr Blocks input_0{Buffer::input, 0, 1};
constexpr Blocks input_1{Buffer::input, 1, 1};
constexpr Blocks output_0{Buffer::output, 0, 1};
constexpr Blocks output_1{Buffer::output, 1, 1};

void expect_refusal(const Plan& plan, const std::string& where, const std::string& what) {
    const std::string text = refusal(plan);
    EXPECT_TRUE(text.starts_with(where)) << text;
    EXPECT_NE(text.find(what), std::string::npos) << text;
}

Plan generated(Collective op, Rank size, Rank root, std::uint32_t blocks, bool ordered,
               const Machine* machine = nullptr) {
    const CostView costs(std::vector<std::int32_t>(static_cast<std::size_t>(size), 0), {10}, {30});
    const GenerateInput input{.costs = costs,
                              .machine = machine,
                              .root = root,
                              .bytes = 30'000,
                              .ordered = ordered,
                              .via = pull,
                              .blocks = blocks};
    const auto family = std::ranges::find(families(), "direct-push", &Family::name);
    EXPECT_TRUE(family->applies(op, input));
    return family->make(op, input);
}

Plan generated(Rank size, Rank root, std::uint32_t blocks, bool ordered) {
    return generated(Collective::reduce, size, root, blocks, ordered);
}

/// Two ranks: each combines one half, both in the root's output.
Plan halves() {
    Plan plan = empty_plan(Collective::reduce, 2, 2, 5000);
    plan.steps[0] = {make_step(StepKind::offer, 1, push, input_1, output_1),
                     make_step(StepKind::fold, 1, pull, input_0, output_0),
                     make_step(StepKind::signal, 1), make_step(StepKind::wait, 1)};
    plan.steps[1] = {make_step(StepKind::send, 0, pull, input_0),
                     make_step(StepKind::put_fold, 0, push, input_1),
                     make_step(StepKind::signal, 0), make_step(StepKind::wait, 0)};
    plan.steps[1][1].incoming_first = true;
    return plan;
}

/// Rank 1 puts its block into the output of rank 0.
Plan gather_by_put() {
    Plan plan = empty_plan(Collective::gather, 2, 1, 5000);
    plan.steps[0] = {make_step(StepKind::offer, 1, push, {}, output_1),
                     make_step(StepKind::copy, -1, Mechanism::none, input_0, output_0),
                     make_step(StepKind::wait, 1)};
    plan.steps[1] = {make_step(StepKind::put, 0, push, input_0), make_step(StepKind::signal, 0)};
    return plan;
}

void expect_runs(const Plan& plan, Random& random, bool ordered) {
    const std::string what = std::string(to_string(plan.op)) + ", " + std::to_string(plan.size()) +
                             " ranks, root " + std::to_string(plan.root);
    ASSERT_EQ(refusal(plan, ordered), "") << what;
    for (int run = 0; run < 2; ++run) {
        const Outcome outcome = RandomExecution(plan, random.next(), run == 0).run(ordered);
        ASSERT_TRUE(outcome.finished) << what;
        ASSERT_EQ(outcome.wrong, "") << what;
    }
}

TEST(Push, BroadcastsAreProvedAndRun) {
    Random random(52);
    for (Rank size = 2; size <= 9; ++size) {
        for (Rank root = 0; root < size; ++root) {
            expect_runs(generated(Collective::broadcast, size, root, 1, false), random, false);
        }
    }
}

TEST(Push, TheRootOfTwoProcessesCombinesTwoThirds) {
    Random random(54);
    Machine processes;
    processes.kernel_copy = {600, 13};
    for (const Rank root : {0, 1}) {
        for (const std::uint32_t blocks : {1U, 4U}) {
            for (const bool ordered : {false, true}) {
                const Plan plan =
                    generated(Collective::reduce, 2, root, blocks, ordered, &processes);
                EXPECT_EQ(plan.block_count, 3 * blocks);
                expect_runs(plan, random, ordered);
            }
        }
    }
    EXPECT_EQ(generated(Collective::reduce, 3, 0, 1, false, &processes).block_count, 3U);
}

TEST(Push, EverySizeRootAndOrderIsProvedAndRuns) {
    Random random(51);
    for (Rank size = 2; size <= 9; ++size) {
        for (Rank root = 0; root < size; ++root) {
            for (const std::uint32_t blocks : {1U, 3U}) {
                for (const bool ordered : {false, true}) {
                    for (const Collective op : {Collective::reduce, Collective::allreduce}) {
                        expect_runs(generated(op, size, root, blocks, ordered), random, ordered);
                    }
                }
            }
        }
    }
}

TEST(Push, HandWrittenPlansAreProved) {
    EXPECT_EQ(refusal(halves(), true), "");
    EXPECT_EQ(refusal(gather_by_put()), "");
    EXPECT_TRUE(keeps_parts(gather_by_put()));
}

TEST(Push, GatherKeepsPartsOfAnyLength) {
    for (Rank size = 2; size <= 9; ++size) {
        const Plan plan = generated(Collective::gather, size, size - 1, 1, false);
        EXPECT_EQ(refusal(plan), "");
        EXPECT_TRUE(keeps_parts(plan));
    }
}

TEST(Push, PlansSurviveTheirJson) {
    const Plan plan = generated(5, 2, 2, true);
    EXPECT_EQ(plan_from_json(to_json(plan)), plan);
    EXPECT_EQ(plan_from_json(to_json(halves())), halves());
}

TEST(Push, OfferAndPutNameWhatTheyNeed) {
    Plan plan = halves();
    plan.steps[1][1].via = pull;
    expect_refusal(plan, "rank 1, step 1 (put_fold to 0 via pull)", "goes via push");
    plan = halves();
    plan.steps[1][0].via = push;
    expect_refusal(plan, "rank 1, step 0 (send to 0 via push)", "only offer, put and put_fold");
    plan = halves();
    plan.steps[0][0].from = {};
    expect_refusal(plan, "rank 1, step 1", "names no blocks to combine with");
    plan = halves();
    plan.steps[1][1] = make_step(StepKind::put, 0, push, input_1);
    expect_refusal(plan, "rank 1, step 1", "names blocks for that");
    plan = halves();
    plan.steps[1][1].from = {Buffer::input, 0, 2};
    expect_refusal(plan, "rank 1, step 1", "puts 2 blocks");
    plan = halves();
    plan.steps[0][0].to = {};
    expect_refusal(plan, "rank 0, step 0", "to has no blocks");
    plan = halves();
    plan.steps[0][0].to.buffer = Buffer::input;
    expect_refusal(plan, "rank 0, step 0", "input is never written");
    plan = halves();
    plan.steps[0].erase(plan.steps[0].begin());
    expect_refusal(plan, "rank 1, step 1", "waits for ever");
    plan = halves();
    plan.steps[0][0].to = output_0;
    expect_refusal(plan, "rank 1, step 1", "where block 0 belongs");
}

TEST(Push, GuardsWhatIsOfferedUntilItIsSurelyWritten) {
    // The root ends before rank 1 has said that it is done.
    Plan plan = halves();
    plan.steps[0].pop_back();
    plan.steps[1].erase(plan.steps[1].begin() + 2);
    expect_refusal(plan, "rank 0, step 0 (offer to 1 via push)", "wait for an acknowledgement");
    // Rank 1 says so before it has written.
    plan = halves();
    std::swap(plan.steps[1][1], plan.steps[1][2]);
    expect_refusal(plan, "rank 0, step 0", "rank 1 may still be at them in its step 2");
    // The root reads what it has offered.
    plan = halves();
    plan.scratch_blocks = 2;
    plan.steps[0].insert(plan.steps[0].begin() + 3, make_step(StepKind::copy, -1, Mechanism::none,
                                                              output_1, {Buffer::scratch, 1, 1}));
    EXPECT_NE(refusal(plan), "");
    // It may do so after the acknowledgement.
    std::swap(plan.steps[0][3], plan.steps[0][4]);
    EXPECT_EQ(refusal(plan), "");
    // It writes there itself.
    plan = gather_by_put();
    plan.steps[0].insert(plan.steps[0].begin() + 1,
                         make_step(StepKind::copy, -1, Mechanism::none, input_0, output_1));
    EXPECT_NE(refusal(plan), "");
    // It reads its input in the same place: that may be the same memory.
    plan = halves();
    std::swap(plan.steps[0][0], plan.steps[0][1]);
    plan.steps[0][0].from = plan.steps[0][0].to = input_1;
    EXPECT_NE(refusal(plan), "");
}

/// Rank 2 reads the input of the root, where rank 1 is to write the output.
Plan lent_and_offered() {
    Plan plan = empty_plan(Collective::reduce, 3, 1, 5000);
    plan.scratch_blocks = 1;
    const Blocks scratch{Buffer::scratch, 0, 1};
    plan.steps[0] = {make_step(StepKind::send, 2, pull, input_0),
                     make_step(StepKind::offer, 1, push, {}, output_0),
                     make_step(StepKind::wait, 1)};
    plan.steps[1] = {make_step(StepKind::fold, 2, Mechanism::cells, input_0, scratch),
                     make_step(StepKind::put, 0, push, scratch), make_step(StepKind::signal, 0)};
    plan.steps[2] = {make_step(StepKind::fold, 0, pull, input_0, scratch),
                     make_step(StepKind::send, 1, Mechanism::cells, scratch)};
    return plan;
}

TEST(Push, GuardsWhatIsLentAgainstAPeerThatWrites) {
    // Rank 1 writes after it has heard from rank 2 that it is done.
    EXPECT_EQ(refusal(lent_and_offered()), "");
    Plan plan = lent_and_offered();
    // Rank 2 tells rank 1 first and combines what the root has lent for nothing.
    plan.steps[2] = {make_step(StepKind::send, 1, Mechanism::cells, input_0),
                     make_step(StepKind::fold, 0, pull, input_0, {Buffer::scratch, 0, 1}),
                     make_step(StepKind::signal, 0)};
    plan.steps[0][1].from = input_0;
    plan.steps[0].push_back(make_step(StepKind::wait, 2));
    plan.steps[1][1].kind = StepKind::put_fold;
    expect_refusal(plan, "rank 1, step 1 (put_fold to 0 via push)",
                   "overwrites blocks that rank 0 has also lent");
}

TEST(Push, TwoRanksMayNotWriteTheSameBlocks) {
    Plan plan = empty_plan(Collective::gather, 3, 1, 5000);
    const Blocks output_2{Buffer::output, 2, 1};
    plan.steps[0] = {make_step(StepKind::copy, -1, Mechanism::none, input_0, output_0),
                     make_step(StepKind::offer, 1, push, {}, output_1),
                     make_step(StepKind::offer, 2, push, {}, output_2),
                     make_step(StepKind::wait, 1), make_step(StepKind::wait, 2)};
    plan.steps[1] = {make_step(StepKind::put, 0, push, input_0), make_step(StepKind::signal, 0)};
    plan.steps[2] = plan.steps[1];
    EXPECT_EQ(refusal(plan), "");
    plan.steps[0].insert(plan.steps[0].begin() + 1,
                         make_step(StepKind::offer, 1, push, {}, output_2));
    plan.steps[1].insert(plan.steps[1].begin(), make_step(StepKind::put, 0, push, input_0));
    EXPECT_NE(refusal(plan), "");
}

TEST(Push, DroppedStepsAreRefused) {
    for (const Plan& plan : {halves(), gather_by_put(), lent_and_offered()}) {
        for (std::size_t rank = 0; rank < plan.steps.size(); ++rank) {
            for (std::size_t index = 0; index < plan.steps[rank].size(); ++index) {
                Plan mutant = plan;
                mutant.steps[rank].erase(mutant.steps[rank].begin() +
                                         static_cast<std::ptrdiff_t>(index));
                EXPECT_NE(refusal(mutant), "") << "rank " << rank << ", step " << index;
            }
        }
    }
}

/// One random change: two steps swapped, one dropped or doubled, or another field.
void damage(Plan& plan, Random& random) {
    auto& steps = plan.steps[random.below(static_cast<std::uint32_t>(plan.steps.size()))];
    const auto count = static_cast<std::uint32_t>(steps.size());
    const auto at = static_cast<std::ptrdiff_t>(random.below(count));
    Step& step = steps[static_cast<std::size_t>(at)];
    switch (random.below(7)) {
    case 0: steps.erase(steps.begin() + at); break;
    case 1: steps.insert(steps.begin() + at, Step(step)); break;
    case 2: step.to.first = random.below(plan.block_count); break;
    case 3: step.from.first = random.below(plan.block_count); break;
    case 4: step.incoming_first = !step.incoming_first; break;
    default: std::swap(step, steps[random.below(count)]);
    }
}

TEST(Push, WhatIsAcceptedAfterRandomDamageRunsRight) {
    constexpr std::uint64_t seed = 53;
    Random random(seed);
    int accepted = 0;
    int refused = 0;
    for (int round = 0; round < 6000; ++round) {
        const auto size = static_cast<Rank>(2 + random.below(3));
        Plan plan =
            random.below(4) == 0
                ? lent_and_offered()
                : generated(size, static_cast<Rank>(random.below(static_cast<std::uint32_t>(size))),
                            1 + random.below(2), random.below(2) == 0);
        for (std::uint32_t change = 0; change <= random.below(3); ++change) {
            damage(plan, random);
        }
        if (refusal(plan) != "") {
            ++refused;
            continue;
        }
        ++accepted;
        for (int run = 0; run < 6; ++run) {
            const Outcome outcome = RandomExecution(plan, random.next(), run % 2 == 0).run(false);
            ASSERT_TRUE(outcome.finished) << "seed " << seed << ", round " << round;
            ASSERT_EQ(outcome.wrong, "") << "seed " << seed << ", round " << round;
        }
    }
    EXPECT_GT(accepted, 300);
    EXPECT_GT(refused, 300);
}

} // namespace

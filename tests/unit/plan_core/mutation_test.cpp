// SPDX-License-Identifier: Apache-2.0
// Damaged plans: the checker must refuse every one that matters.
#include "random_execution.hpp"
#include "sample_plans.hpp"

#include <corymb/error.hpp>
#include <corymb/plan.hpp>

#include <gtest/gtest.h>

#include <bit>
#include <functional>
#include <string>
#include <utility>

namespace {

using namespace corymb;
using namespace corymb::test;

bool is_accepted(const Plan& plan, bool ordered) {
    try {
        check_plan(plan, ordered);
        return true;
    } catch (const Error& error) {
        EXPECT_EQ(error.code(), Errc::invalid_plan);
        return false;
    }
}

/// Calls visit(plan, ordered) for right plans of all kinds.
void for_each_plan(std::uint64_t seed, int count,
                   const std::function<void(const Plan&, bool)>& visit) {
    Random random(seed);
    for (int round = 0; round < count; ++round) {
        bool ordered = false;
        const Plan plan = random_plan(random, ordered);
        if (is_accepted(plan, ordered)) {
            visit(plan, ordered);
        }
    }
}

void for_each_step(const Plan& plan, const std::function<void(std::size_t, std::size_t)>& visit) {
    for (std::size_t rank = 0; rank < plan.steps.size(); ++rank) {
        for (std::size_t index = 0; index < plan.steps[rank].size(); ++index) {
            visit(rank, index);
        }
    }
}

std::string where(const Plan& plan, std::size_t rank, std::size_t index) {
    return "rank " + std::to_string(rank) + " step " + std::to_string(index) + " of\n" +
           to_json(plan).substr(0, 4000);
}

std::ptrdiff_t offset(std::size_t index) {
    return static_cast<std::ptrdiff_t>(index);
}

TEST(Mutation, DroppedStepIsRefused) {
    int mutants = 0;
    for_each_plan(21, 150, [&](const Plan& plan, bool ordered) {
        for_each_step(plan, [&](std::size_t rank, std::size_t index) {
            Plan mutant = plan;
            mutant.steps[rank].erase(mutant.steps[rank].begin() + offset(index));
            EXPECT_FALSE(is_accepted(mutant, ordered)) << where(plan, rank, index);
            ++mutants;
        });
    });
    EXPECT_GT(mutants, 2000);
}

TEST(Mutation, DuplicatedStepIsRefused) {
    for_each_plan(22, 150, [&](const Plan& plan, bool ordered) {
        for_each_step(plan, [&](std::size_t rank, std::size_t index) {
            auto step = plan.steps[rank][index];
            if (step.kind == StepKind::copy) {
                return; // Copying the same blocks again changes nothing.
            }
            Plan mutant = plan;
            mutant.steps[rank].insert(mutant.steps[rank].begin() + offset(index), step);
            EXPECT_FALSE(is_accepted(mutant, ordered)) << where(plan, rank, index);
        });
    });
}

TEST(Mutation, MisdirectedStepIsRefused) {
    Random random(1);
    for_each_plan(23, 150, [&](const Plan& plan, bool ordered) {
        for_each_step(plan, [&](std::size_t rank, std::size_t index) {
            Plan mutant = plan;
            Step& step = mutant.steps[rank][index];
            if (step.peer < 0) {
                return; // Nobody to misdirect it to.
            }
            const Rank before = step.peer;
            step.peer = static_cast<Rank>(random.below(static_cast<std::uint32_t>(plan.size())));
            if (step.peer != before) {
                EXPECT_FALSE(is_accepted(mutant, ordered)) << where(mutant, rank, index);
            }
        });
    });
}

TEST(Mutation, ChangedBlocksAreRefused) {
    Random random(2);
    int mutants = 0;
    for_each_plan(24, 200, [&](const Plan& plan, bool ordered) {
        for_each_step(plan, [&](std::size_t rank, std::size_t index) {
            for (const bool of_from : {true, false}) {
                Plan mutant = plan;
                Step& step = mutant.steps[rank][index];
                Blocks& blocks = of_from ? step.from : step.to;
                if (blocks.count == 0) {
                    continue;
                }
                switch (random.below(3)) {
                case 0: blocks.first = random.below(plan.block_count); break;
                case 1: blocks.count = 1 + random.below(plan.block_count); break;
                default: blocks.buffer = static_cast<Buffer>(random.below(3));
                }
                const Blocks& before = plan.steps[rank][index].from;
                const bool publishes_more = // Nobody takes the rest.
                    step.kind == StepKind::publish && step.via == Mechanism::pull &&
                    step.from.buffer == before.buffer && step.from.first == before.first &&
                    step.from.count > before.count;
                if (mutant == plan || publishes_more) {
                    continue;
                }
                EXPECT_FALSE(is_accepted(mutant, ordered)) << where(mutant, rank, index);
                ++mutants;
            }
        });
    });
    EXPECT_GT(mutants, 500);
}

bool overlap(const Blocks& a, const Blocks& b) {
    return a.count > 0 && b.count > 0 && a.buffer == b.buffer && a.first < b.first + b.count &&
           b.first < a.first + a.count;
}

bool takes_message(const Step& step) {
    return step.kind == StepKind::recv || step.kind == StepKind::fold ||
           step.kind == StepKind::read || step.kind == StepKind::read_fold;
}

bool folds(const Step& step) {
    return step.kind == StepKind::fold || step.kind == StepKind::read_fold;
}

/// `second` relies on what `first`, the step before it, has done.
bool depends(const Plan& plan, const Step& first, const Step& second) {
    // Two folds in a row may change places: combining is associative.
    const bool both_fold = folds(first) && folds(second);
    const bool uses_result = overlap(first.to, second.from) && !both_fold;
    // Unless the ranks are a power of two, dissemination tells some ranks twice of others.
    const bool redundant =
        plan.algorithm == "dissemination" && !std::has_single_bit(plan.steps.size());
    // A peer need not be told what it has just told.
    const bool tells_others = second.peer != first.peer && plan.size() > 2;
    const bool passes_on = tells_others && plan.op == Collective::barrier && !redundant &&
                           (first.kind == StepKind::wait || first.kind == StepKind::read) &&
                           (second.kind == StepKind::signal || second.kind == StepKind::publish);
    const bool acknowledges = takes_message(first) && first.via == Mechanism::pull &&
                              second.kind == StepKind::signal && second.peer == first.peer;
    const bool same_edge = first.kind == second.kind && first.peer == second.peer &&
                           first.via != Mechanism::none && !(first == second);
    return uses_result || passes_on || acknowledges || same_edge;
}

TEST(Mutation, SwappedDependentStepsAreRefusedAndOthersAreHarmless) {
    Random random(3);
    int dependent = 0;
    int harmless = 0;
    for_each_plan(25, 250, [&](const Plan& plan, bool ordered) {
        for_each_step(plan, [&](std::size_t rank, std::size_t index) {
            if (index + 1 == plan.steps[rank].size()) {
                return;
            }
            Plan mutant = plan;
            Step& first = mutant.steps[rank][index];
            Step& second = mutant.steps[rank][index + 1];
            if (first == second) {
                return;
            }
            const bool relies = depends(plan, first, second);
            std::swap(first, second);
            const bool accepted = is_accepted(mutant, ordered);
            if (relies) {
                EXPECT_FALSE(accepted) << where(plan, rank, index);
                ++dependent;
            } else if (accepted) {
                // Independent steps commute, e.g. sends to two peers; then all runs are right.
                ++harmless;
                const Outcome outcome = RandomExecution(mutant, random.next(), true).run(ordered);
                EXPECT_TRUE(outcome.finished && outcome.wrong.empty())
                    << outcome.wrong << where(plan, rank, index);
            }
        });
    });
    EXPECT_GT(dependent, 300);
    EXPECT_GT(harmless, 300);
}

TEST(Mutation, DroppedAcknowledgementOfPullIsRefused) {
    Random random(4);
    int dropped = 0;
    for (int round = 0; round < 600; ++round) {
        bool ordered = false;
        const Plan plan = random_plan(random, ordered);
        bool pulls = false;
        for_each_step(plan, [&](std::size_t rank, std::size_t index) {
            pulls = pulls || plan.steps[rank][index].via == Mechanism::pull;
        });
        if (!pulls || !is_accepted(plan, ordered)) {
            continue;
        }
        for_each_step(plan, [&](std::size_t rank, std::size_t index) {
            const Step& signal = plan.steps[rank][index];
            if (signal.kind != StepKind::signal) {
                return;
            }
            // Plans with pull have one signal an edge, so this wait is its partner.
            Plan mutant = plan;
            mutant.steps[rank].erase(mutant.steps[rank].begin() + offset(index));
            auto& owner = mutant.steps[static_cast<std::size_t>(signal.peer)];
            std::erase_if(owner, [&](const Step& step) {
                return step.kind == StepKind::wait && step.peer == static_cast<Rank>(rank);
            });
            EXPECT_FALSE(is_accepted(mutant, ordered)) << where(plan, rank, index);
            ++dropped;
        });
    }
    EXPECT_GT(dropped, 300);
}

/// One random change anywhere.
void damage(Plan& plan, Random& random) {
    auto& steps = plan.steps[random.below(static_cast<std::uint32_t>(plan.steps.size()))];
    if (steps.empty()) {
        return;
    }
    const auto count = static_cast<std::uint32_t>(steps.size());
    const std::size_t index = random.below(count);
    Step& step = steps[index];
    switch (random.below(8)) {
    case 0: steps.erase(steps.begin() + offset(index)); break;
    case 1: steps.insert(steps.begin() + offset(index), Step(step)); break;
    case 2: std::swap(step, steps[random.below(count)]); break;
    case 3:
        step.peer = static_cast<Rank>(random.below(static_cast<std::uint32_t>(plan.size())));
        break;
    case 4: step.via = static_cast<Mechanism>(random.below(7)); break;
    case 5: step.kind = static_cast<StepKind>(random.below(12)); break;
    case 6: step.incoming_first = !step.incoming_first; break;
    default: step.from.first = random.below(plan.block_count + 1);
    }
}

TEST(Mutation, WhatIsAcceptedAfterRandomDamageRunsRight) {
    Random random(5);
    int accepted = 0;
    for (int round = 0; round < 20000; ++round) {
        bool ordered = false;
        Plan plan = random_plan(random, ordered);
        const std::uint32_t changes = 1 + random.below(3);
        for (std::uint32_t change = 0; change < changes; ++change) {
            damage(plan, random);
        }
        if (is_accepted(plan, ordered)) {
            ++accepted;
            for (const bool tight : {true, false}) {
                const Outcome outcome = RandomExecution(plan, random.next(), tight).run(ordered);
                EXPECT_TRUE(outcome.finished && outcome.wrong.empty()) << outcome.wrong << '\n'
                                                                       << to_json(plan);
            }
        }
    }
    EXPECT_GT(accepted, 1000);
}

} // namespace

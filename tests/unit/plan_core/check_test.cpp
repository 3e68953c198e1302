// SPDX-License-Identifier: Apache-2.0
// The checker accepts what is right, and its verdict agrees with an independent executor.
#include "plan/generate/families.hpp"
#include "random_execution.hpp"
#include "refusal.hpp"
#include "rounds.hpp"
#include "sample_plans.hpp"

#include <corymb/plan.hpp>

#include <gtest/gtest.h>

#include <string>

namespace {

using namespace corymb;
using namespace corymb::test;

TEST(Check, AcceptsTextbookPlans) {
    for (const Rank size : {1, 2, 3, 4, 5, 8, 13, 64, 130}) {
        EXPECT_EQ(refusal(line_broadcast(size)), "") << size;
        EXPECT_EQ(refusal(star_broadcast(size)), "") << size;
        EXPECT_EQ(refusal(dissemination_barrier(size)), "") << size;
        EXPECT_EQ(refusal(flat_barrier(size)), "") << size;
        EXPECT_EQ(refusal(published_broadcast(size, Mechanism::pull, 7)), "") << size;
        EXPECT_EQ(refusal(published_broadcast(size, Mechanism::line, 7)), "") << size;
        EXPECT_EQ(refusal(published_allreduce(size), true), "") << size;
    }
    for (const Rank size : {2, 4, 8, 16}) {
        EXPECT_EQ(refusal(doubling_allreduce(size, 3, 1000), true), "") << size;
    }
}

TEST(Check, AcceptsThousandsOfRandomPlansThatAlsoRun) {
    Random random(7);
    for (int round = 0; round < 3000; ++round) {
        bool ordered = false;
        const Plan plan = random_plan(random, ordered);
        const std::string text = refusal(plan, ordered);
        // Two long messages that cross wait for each other when nothing is buffered.
        if (text.find("waits for ever in a cycle") != std::string::npos) {
            EXPECT_FALSE(RandomExecution(plan, random.next(), true).run(ordered).finished) << text;
            continue;
        }
        ASSERT_EQ(text, "") << to_json(plan);
        for (const bool tight : {true, false}) {
            const Outcome outcome = RandomExecution(plan, random.next(), tight).run(ordered);
            ASSERT_TRUE(outcome.finished) << to_json(plan);
            ASSERT_EQ(outcome.wrong, "") << to_json(plan);
        }
    }
}

TEST(Check, AcceptsEveryFamilyOnRandomCosts) {
    Random random(11);
    for (int round = 0; round < rounds(200); ++round) {
        const auto size = static_cast<Rank>(1 + random.below(20));
        const auto entries = static_cast<std::size_t>(size) * static_cast<std::size_t>(size);
        std::vector<float> send(entries);
        std::vector<float> receive(entries);
        for (std::size_t entry = 0; entry < entries; ++entry) {
            send[entry] = static_cast<float>(1 + random.below(50));
            receive[entry] = static_cast<float>(1 + random.below(200));
        }
        const CostView costs(size, send, receive);
        GenerateInput input{costs};
        input.root = random.below(2) == 0
                         ? -1
                         : static_cast<Rank>(random.below(static_cast<std::uint32_t>(size)));
        constexpr Mechanism mechanisms[] = {Mechanism::line, Mechanism::cells, Mechanism::pull};
        input.via = mechanisms[random.below(3)];
        input.bytes = input.via == Mechanism::line ? 8 : 1 + random.below(100000);
        input.blocks = input.via == Mechanism::line ? 1 : 1 + random.below(9);
        input.ordered = random.below(2) == 0;
        input.moves = 200;
        for (const Family& family : families()) {
            for (std::size_t number = 0; number < collective_count; ++number) {
                const auto op = static_cast<Collective>(number);
                if (family.applies(op, input) && (family.name != "exact" || size <= 8)) {
                    const Plan plan = family.make(op, input);
                    EXPECT_EQ(refusal(plan, input.ordered), "")
                        << family.name << ' ' << to_string(op) << ' ' << size << " ranks via "
                        << to_string(input.via) << " blocks " << input.blocks;
                }
            }
        }
    }
}

TEST(Check, IsFastForManyRanks) {
    EXPECT_EQ(refusal(dissemination_barrier(4096)), "");
    EXPECT_EQ(refusal(flat_barrier(4096)), "");
    EXPECT_EQ(refusal(published_broadcast(4096, Mechanism::pull, 16)), "");
    EXPECT_EQ(refusal(doubling_allreduce(1024, 4, 1000), true), "");
    EXPECT_EQ(refusal(published_allreduce(200), true), "");
}

} // namespace

// SPDX-License-Identifier: Apache-2.0
// The plans that the simulator is held against.
#include <threads/predict/builder.hpp>
#include <threads/predict/plans.hpp>

#include <corymb/machine.hpp>
#include <corymb/plan.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <numeric>
#include <set>
#include <string>
#include <vector>

namespace corymb::bench {
namespace {

/// Every pair costs 30 to send and 70 to receive.
Machine uniform(int size) {
    Machine machine;
    machine.name = "uniform";
    machine.topology.source = "none";
    for (int pu = 0; pu < size; ++pu) {
        machine.topology.pus.push_back(Pu{.cpu = pu});
    }
    machine.group.assign(static_cast<std::size_t>(size), 0);
    machine.group_class = {0};
    PairClass pair;
    pair.name = "any";
    pair.send = {30, 30, 30, 1};
    pair.receive = {70, 70, 70, 1};
    machine.classes.push_back(pair);
    return machine;
}

std::vector<int> all(int size) {
    std::vector<int> placement(static_cast<std::size_t>(size));
    std::iota(placement.begin(), placement.end(), 0);
    return placement;
}

PlanFamily exchanges(int times) {
    PlanBuilder builder(Collective::barrier, 2, 0, 0, 0);
    for (int k = 0; k < times; ++k) {
        builder.dissemination();
    }
    PlanFamily family;
    family.by_root.push_back(builder.finish("exchanges"));
    return family;
}

TEST(PlansToPredictTest, PlansAreProvenAndOfTheNumberAsked) {
    for (const int size : {2, 5, 12}) {
        const auto families = plans_to_predict(uniform(size), all(size), 24, 3);
        EXPECT_EQ(families.size(), 24U);
        std::array<int, collective_count> of_op{};
        for (const auto& family : families) {
            EXPECT_LE(family.ranks(), 8);
            EXPECT_LE(family.ranks(), size);
            ++of_op.at(static_cast<std::size_t>(family.op));
            for (Rank root = 0; root < static_cast<Rank>(family.by_root.size()); ++root) {
                EXPECT_NO_THROW(check_plan(family.at(root))) << family.name;
                if (is_rooted(family.op)) {
                    EXPECT_EQ(family.at(root).root, root);
                }
            }
        }
        EXPECT_EQ(of_op.front(), 3);
        EXPECT_EQ(std::ranges::min(of_op), 2);
    }
}

TEST(PlansToPredictTest, SameSeedSamePlans) {
    const auto hashes = [](std::uint64_t seed) {
        std::vector<std::string> list;
        for (const auto& family : plans_to_predict(uniform(3), all(3), 20, seed)) {
            list.push_back(plan_hash(family.at(0)));
        }
        return list;
    };
    EXPECT_EQ(hashes(5), hashes(5));
    EXPECT_NE(hashes(5), hashes(6));
}

TEST(PlansToPredictTest, CostsDifferWidely) {
    const Machine machine = uniform(2);
    double low = 1e300;
    double high = 0;
    for (const auto& family : plans_to_predict(machine, all(2), 32, 1)) {
        const double predicted = steady_prediction(family, machine, all(2));
        EXPECT_GT(predicted, 0) << family.name;
        low = std::min(low, predicted);
        high = std::max(high, predicted);
    }
    EXPECT_GT(high, 4 * low);
}

TEST(SteadyPredictionTest, RoundsAddUp) {
    const Machine machine = uniform(2);
    const double one = steady_prediction(exchanges(1), machine, all(2));
    // Send, then receive what the other sent meanwhile.
    EXPECT_DOUBLE_EQ(one, 100);
    EXPECT_DOUBLE_EQ(steady_prediction(exchanges(3), machine, all(2)), 3 * one);
}

/// A broadcast of 4 KiB between two ranks in one message, which root 1 divides in `blocks` blocks.
PlanFamily broadcasts(std::uint32_t blocks) {
    PlanFamily family;
    family.op = Collective::broadcast;
    family.bytes = 4096;
    for (const Rank root : {0, 1}) {
        PlanBuilder builder(Collective::broadcast, 2, root, family.bytes, 1);
        builder.block(root, 1 - root, 0, Mechanism::cells);
        family.by_root.push_back(builder.finish("broadcast"));
    }
    Plan& divided = family.by_root.back();
    divided.block_count = blocks;
    for (auto& steps : divided.steps) {
        for (Step& step : steps) {
            (step.kind == StepKind::send ? step.from : step.to).count = blocks;
        }
    }
    return family;
}

TEST(SteadyPredictionTest, RootsMayDivideThePayloadDifferently) {
    const Machine machine = uniform(2);
    const double whole = steady_prediction(broadcasts(1), machine, all(2));
    for (const std::uint32_t blocks : {2U, 3U, 8U}) {
        const PlanFamily family = broadcasts(blocks);
        EXPECT_NO_THROW(check_plan(family.at(1)));
        EXPECT_DOUBLE_EQ(steady_prediction(family, machine, all(2)), whole) << blocks;
    }
}

TEST(PlansToPredictTest, MessagesAreCounted) {
    EXPECT_EQ(message_count(exchanges(3).at(0)), 6U);
    PlanBuilder builder(Collective::broadcast, 2, 0, 64, 2);
    builder.block(0, 1, 0, Mechanism::cells);
    builder.block(0, 1, 1, Mechanism::pull);
    EXPECT_EQ(message_count(builder.finish("two blocks")), 3U);
}

} // namespace
} // namespace corymb::bench

// SPDX-License-Identifier: Apache-2.0
// One plan for all roots that are alike.
#include "plan/alike_ranks.hpp"
#include "plan/renumber.hpp"
#include "planning.hpp"

#include <corymb/error.hpp>
#include <corymb/machine.hpp>
#include <corymb/plan.hpp>
#include <corymb/simulate.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <set>
#include <vector>

namespace corymb {
namespace {

std::vector<Rank> turned(int size, Rank by) {
    std::vector<Rank> rank_of;
    for (Rank rank = 0; rank < size; ++rank) {
        rank_of.push_back((rank + by) % size);
    }
    return rank_of;
}

/// Groups of so many PUs, two classes of pairs.
Machine grouped(const std::vector<int>& sizes) {
    Machine machine;
    machine.name = "grouped";
    const int groups = static_cast<int>(sizes.size());
    for (int group = 0; group < groups; ++group) {
        for (int member = 0; member < sizes[static_cast<std::size_t>(group)]; ++member) {
            machine.topology.pus.push_back(Pu{.cpu = machine.size()});
            machine.group.push_back(group);
        }
    }
    for (int from = 0; from < groups; ++from) {
        for (int to = 0; to < groups; ++to) {
            machine.group_class.push_back(from == to ? 0 : 1);
        }
    }
    for (const double cost : {50.0, 200.0}) {
        PairClass pair;
        pair.name = cost > 100 ? "far" : "near";
        pair.send = {cost / 4, cost / 4, cost / 4, 1};
        pair.receive = {cost, cost, cost, 1};
        machine.classes.push_back(pair);
    }
    return machine;
}

std::vector<int> all_pus(const Machine& machine) {
    std::vector<int> placement(static_cast<std::size_t>(machine.size()));
    std::iota(placement.begin(), placement.end(), 0);
    return placement;
}

TEST(Renumber, GivesAProvenPlanForAnotherRoot) {
    constexpr int size = 7;
    const test::Group group(grouped({size}));
    int made = 0;
    for (const Collective op :
         {Collective::broadcast, Collective::reduce, Collective::gather, Collective::scatter}) {
        for (const Family& family : families()) {
            GenerateInput input = group.input(0);
            input.bytes = 64 << 10;
            input.blocks = has_parts(op) ? 1 : 3;
            input.moves = 1;
            for (const Mechanism via : {Mechanism::cells, Mechanism::pull}) {
                input.via = via;
                if (!family.applies(op, input)) {
                    continue;
                }
                const Plan plan = family.make(op, input);
                const auto other = plan::renumbered(plan, turned(size, 3));
                if (!other) { // Ranges of several parts come apart.
                    EXPECT_TRUE(has_parts(op)) << family.name;
                    continue;
                }
                ++made;
                EXPECT_EQ(other->root, 3) << family.name;
                EXPECT_NO_THROW(check_plan(*other)) << family.name << " of " << to_string(op);
                EXPECT_EQ(keeps_parts(*other), keeps_parts(plan)) << family.name;
                EXPECT_EQ(plan::renumbered(*other, turned(size, size - 3)), plan) << family.name;
            }
        }
    }
    EXPECT_GT(made, 40);
}

TEST(Renumber, RefusesToTearRangesOfSeveralPartsApart) {
    Plan plan;
    plan.op = Collective::gather;
    plan.block_count = 2;
    plan.steps.resize(4);
    plan.steps[0].push_back({.kind = StepKind::recv,
                             .via = Mechanism::cells,
                             .peer = 1,
                             .to = {Buffer::output, 2, 4}}); // Parts 1 and 2.
    EXPECT_FALSE(plan::renumbered(plan, std::vector<Rank>{0, 2, 1, 3}));
    const auto moved = plan::renumbered(plan, std::vector<Rank>{3, 1, 2, 0});
    ASSERT_TRUE(moved);
    EXPECT_EQ(moved->root, 3);
    EXPECT_EQ(moved->steps[3].front().to, (Blocks{Buffer::output, 2, 4}));
    plan.steps[0].front().to = {Buffer::output, 3, 1}; // Within part 1.
    const auto torn = plan::renumbered(plan, std::vector<Rank>{0, 2, 1, 3});
    ASSERT_TRUE(torn);
    EXPECT_EQ(torn->steps[0].front().to, (Blocks{Buffer::output, 5, 1}));
    EXPECT_EQ(torn->steps[0].front().peer, 2);
}

TEST(AlikeRanks, OfEqualGroupsAllAreLikeTheFirst) {
    const Machine machine = grouped({4, 4, 4});
    const std::vector<int> placement = all_pus(machine);
    const plan::AlikeRanks alike(machine, placement);
    const Plan plan = test::Group(machine).plan(Collective::broadcast, "annealed", 0);
    const double time = simulate(plan, machine, placement, 8).makespan;
    EXPECT_FALSE(alike.of(0));
    for (Rank root = 1; root < machine.size(); ++root) {
        const auto likeness = alike.of(root);
        ASSERT_TRUE(likeness) << root;
        EXPECT_EQ(likeness->like, 0);
        EXPECT_EQ(std::set<Rank>(likeness->rank_of.begin(), likeness->rank_of.end()).size(), 12U);
        const auto other = plan::renumbered(plan, likeness->rank_of);
        ASSERT_TRUE(other);
        EXPECT_EQ(other->root, root);
        EXPECT_NO_THROW(check_plan(*other));
        EXPECT_DOUBLE_EQ(simulate(*other, machine, placement, 8).makespan, time) << root;
    }
}

TEST(AlikeRanks, OfUnequalGroupsOnlyThoseOfOneSizeAre) {
    const Machine machine = grouped({3, 2, 3});
    const std::vector<int> placement = all_pus(machine);
    const plan::AlikeRanks alike(machine, placement);
    const std::vector<Rank> like{0, 0, 0, 3, 3, 0, 0, 0};
    for (Rank rank = 0; rank < machine.size(); ++rank) {
        const auto likeness = alike.of(rank);
        EXPECT_EQ(likeness ? likeness->like : rank, like[static_cast<std::size_t>(rank)]) << rank;
    }
}

TEST(AlikeRanks, KeepGroupsOfGivenLevelsTogether) {
    Machine machine = grouped({6});
    machine.levels = {{"half", {0, 0, 0, 1, 1, 1}}, {"row", {0, 0, 1, 2, 2, 3}}};
    const auto groups = [&](Rank one, Rank other) {
        return std::ranges::count_if(machine.levels, [&](const GivenLevel& level) {
            return level.group[static_cast<std::size_t>(one)] ==
                   level.group[static_cast<std::size_t>(other)];
        });
    };
    const std::vector<int> placement = all_pus(machine);
    const plan::AlikeRanks alike(machine, placement);
    const std::vector<Rank> like{0, 0, 2, 0, 0, 2};
    for (Rank rank = 0; rank < machine.size(); ++rank) {
        const auto likeness = alike.of(rank);
        EXPECT_EQ(likeness ? likeness->like : rank, like[static_cast<std::size_t>(rank)]) << rank;
        for (Rank one = 0; likeness && one < machine.size(); ++one) {
            for (Rank other = 0; other < one; ++other) {
                EXPECT_EQ(groups(likeness->rank_of[static_cast<std::size_t>(one)],
                                 likeness->rank_of[static_cast<std::size_t>(other)]),
                          groups(one, other));
            }
        }
    }
}

TEST(AlikeRanks, CountOnlyThePlacement) {
    const Machine machine = grouped({3, 2, 3});
    const std::vector<int> placement{7, 3, 4, 6};
    const plan::AlikeRanks alike(machine, placement);
    ASSERT_TRUE(alike.of(3));
    EXPECT_EQ(alike.of(3)->like, 0);
    EXPECT_EQ(alike.of(3)->rank_of, (std::vector<Rank>{3, 1, 2, 0}));
    EXPECT_FALSE(alike.of(4));
}

} // namespace
} // namespace corymb

// SPDX-License-Identifier: Apache-2.0
// Lower bounds must hold for every plan, and be worth something on real machines.
#include "planning.hpp"
#include "rounds.hpp"

#include "plan/search/exact.hpp"
#include "plan/search/growth_bound.hpp"
#include "plan/search/two_class_bound.hpp"

#include <gtest/gtest.h>

namespace corymb::test {
namespace {

CostView random_costs(Rank size, Rank first_part, Random& random) {
    const auto n = static_cast<std::size_t>(size);
    std::vector<float> send(n * n);
    std::vector<float> receive(n * n);
    for (std::size_t i = 0; i < n * n; ++i) {
        const bool near =
            (static_cast<Rank>(i / n) < first_part) == (static_cast<Rank>(i % n) < first_part);
        const double base = near ? 20 : 70;
        send[i] = static_cast<float>(base * (0.2 + 0.2 * random.unit()));
        receive[i] = static_cast<float>(base * (0.8 + 0.4 * random.unit()));
    }
    return {size, std::move(send), std::move(receive)};
}

TEST(Bounds, NeverExceedTheOptimum) {
    Random random(31);
    for (int trial = 0; trial < 60; ++trial) {
        const auto size = static_cast<Rank>(2 + random.below(8));
        const auto first_part =
            static_cast<Rank>(1 + random.below(static_cast<std::uint32_t>(size - 1)));
        const CostView costs = random_costs(size, first_part, random);
        Partition parts(static_cast<std::size_t>(size), 1);
        std::fill_n(parts.begin(), first_part, 0);
        const auto root = static_cast<Rank>(random.below(static_cast<std::uint32_t>(size)));
        for (const Flow flow : {Flow::down, Flow::up}) {
            const TreeCosts tree_costs(costs, flow);
            const double optimum = ExactTrees(tree_costs, root).cost(root) * 1.00001;
            EXPECT_LE(growth_bound(tree_costs, root), optimum);
            EXPECT_LE(growth_bound(tree_costs, -1), optimum);
            EXPECT_LE(cluster_growth_bound(tree_costs, parts), optimum);
            EXPECT_LE(two_class_bound(tree_costs, parts, root), optimum);
            EXPECT_GT(two_class_bound(tree_costs, parts, root), 0.5 * optimum);
        }
    }
}

TEST(Bounds, UniformCostsAreBoundedExactly) {
    for (const Rank size : {2, 3, 7, 13}) {
        const std::size_t entries = static_cast<std::size_t>(size) * static_cast<std::size_t>(size);
        const CostView costs(size, std::vector<float>(entries, 3), std::vector<float>(entries, 10));
        const TreeCosts down(costs, Flow::down);
        EXPECT_NEAR(growth_bound(down, 0), ExactTrees(down, 0).cost(0), 1e-3);
    }
}

TEST(Bounds, HoldForAllFamiliesAndOperations) {
    Random random(37);
    for (int trial = 0; trial < rounds(20); ++trial) {
        const auto size = static_cast<Rank>(2 + random.below(30));
        const CostView costs = random_costs(size, size / 2, random);
        GenerateInput input{.costs = costs};
        input.moves = 5000;
        for (const Collective op : {Collective::barrier, Collective::broadcast, Collective::reduce,
                                    Collective::allreduce}) {
            const Bound bound = lower_bound(op, input);
            EXPECT_GT(bound.value, 0);
            for (const Family& family : families()) {
                if (!family.applies(op, input) || family.publishes ||
                    (family.name == "exact" && size > 8)) {
                    continue; // The bound speaks of point-to-point messages.
                }
                EXPECT_GE(evaluate(family.make(op, input), costs) * 1.00001, bound.value)
                    << family.name << " " << to_string(op) << " " << bound.kind;
            }
        }
    }
}

TEST(Bounds, AreUsefulOnMeasuredMachines) {
    struct Row {
        const char* machine;
        double best;
        double gap; ///< Best known over bound, with some slack.
    };
    for (const Row& row : {Row{"smelt-e5v2-2x10", 1304, 1.05}, Row{"m1-ultra-20c", 157, 1.05},
                           Row{"kunpeng-920-64c", 200, 1.25}, Row{"graviton3-1s-64c", 159, 1.3}}) {
        const Group group(gallery_machine(row.machine));
        const Bound bound = lower_bound(Collective::broadcast, group.input());
        EXPECT_LE(bound.value, row.best + 0.5) << row.machine << " " << bound.kind;
        EXPECT_GE(bound.value, row.best / row.gap) << row.machine << " " << bound.kind;
    }
}

TEST(Bounds, OneRankNeedsNoTime) {
    const CostView costs(1, {0}, {0});
    const Bound bound = lower_bound(Collective::barrier, {.costs = costs});
    EXPECT_EQ(bound.value, 0);
    EXPECT_EQ(bound.kind, "none");
}

} // namespace
} // namespace corymb::test

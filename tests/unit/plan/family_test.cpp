// SPDX-License-Identifier: Apache-2.0
// Every family, on random machines and groups of every kind of size: its plans must pass the
// checker, the searched ones must not lose to a baseline, and the same input gives the same plan.
#include "planning.hpp"
#include "rounds.hpp"

#include "plan/search/exact.hpp"

#include <gtest/gtest.h>

namespace corymb::test {
namespace {

/// Costs with two levels of groups and noise, asymmetric; sometimes without structure.
CostView random_costs(Rank size, Random& random) {
    const auto n = static_cast<std::size_t>(size);
    const std::uint32_t group_size = 1 + random.below(8);
    const double far = 1 + 9 * random.unit();
    std::vector<float> send(n * n);
    std::vector<float> receive(n * n);
    for (std::size_t i = 0; i < n * n; ++i) {
        const bool near = i / n / group_size == i % n / group_size;
        const double base = (near ? 20 : 20 * far) * (0.7 + 0.6 * random.unit());
        send[i] = static_cast<float>(base * (0.1 + 0.5 * random.unit()));
        receive[i] = static_cast<float>(base);
    }
    return {size, std::move(send), std::move(receive)};
}

GenerateInput quick(const CostView& costs, Random& random) {
    const auto size = static_cast<std::uint32_t>(costs.size());
    GenerateInput input{.costs = costs};
    input.root = static_cast<Rank>(random.below(size + 1)) - 1;
    input.seed = random.next();
    input.moves = 2000;
    return input;
}

constexpr Collective all_operations[] = {Collective::barrier, Collective::broadcast,
                                         Collective::reduce, Collective::allreduce};

TEST(Families, PlansPassTheCheckerOnRandomGroups) {
    Random random(7);
    for (int trial = 0; trial < rounds(60); ++trial) {
        const Rank size = trial < 12 ? trial + 1 : static_cast<Rank>(1 + random.below(40));
        const CostView costs = random_costs(size, random);
        GenerateInput input = quick(costs, random);
        for (const Collective op : all_operations) {
            for (const bool ordered : {false, true}) {
                input.ordered = ordered;
                for (const Family& family : families()) {
                    if ((family.name == "exact" && size > 8) || !family.applies(op, input)) {
                        continue;
                    }
                    SCOPED_TRACE(std::string(family.name) + ", " + std::string(to_string(op)) +
                                 ", ranks " + std::to_string(size));
                    const Plan plan = family.make(op, input);
                    EXPECT_EQ(plan.algorithm, family.name);
                    ASSERT_NO_THROW(check_plan(plan, ordered));
                    const bool rooted = op == Collective::broadcast || op == Collective::reduce;
                    if (rooted && input.root >= 0) {
                        EXPECT_EQ(plan.root, input.root);
                    }
                }
            }
        }
    }
}

TEST(Families, LargePayloadsPassTheChecker) {
    Random random(11);
    for (int trial = 0; trial < 24; ++trial) {
        const auto size = static_cast<Rank>(1 + random.below(20));
        const CostView costs = random_costs(size, random);
        GenerateInput input = quick(costs, random);
        input.via = trial % 2 == 0 ? Mechanism::cells : Mechanism::pull;
        input.bytes = trial % 3 == 0 ? 100'000 : 4'000;
        input.blocks = 1 + random.below(9);
        for (const Collective op :
             {Collective::broadcast, Collective::reduce, Collective::allreduce}) {
            for (const Family& family : families()) {
                if ((family.name == "exact" && size > 8) || !family.applies(op, input)) {
                    continue;
                }
                SCOPED_TRACE(std::string(family.name) + ", " + std::string(to_string(op)) +
                             ", ranks " + std::to_string(size) + ", blocks " +
                             std::to_string(input.blocks) + " via " +
                             std::string(to_string(input.via)));
                ASSERT_NO_THROW(check_plan(family.make(op, input)));
            }
        }
    }
}

/// Messages of several parts grow longer than the parts, and than a channel.
TEST(Families, PartsOfEveryLengthPassTheChecker) {
    Random random(13);
    for (const Rank size : {2, 3, 4, 7, 8}) {
        const CostView costs = random_costs(size, random);
        GenerateInput input = quick(costs, random);
        input.moves = 1;
        for (unsigned way = 0; way < 24; ++way) {
            input.via = way % 2 == 0 ? Mechanism::cells : Mechanism::pull;
            input.bytes = std::uint64_t{64} << way / 2;
            for (const Collective op :
                 {Collective::gather, Collective::scatter, Collective::allgather,
                  Collective::alltoall, Collective::reduce_scatter}) {
                for (const Family& family : families()) {
                    if (!family.applies(op, input) || family.name == "exact") {
                        continue;
                    }
                    ASSERT_NO_THROW(check_plan(family.make(op, input)))
                        << family.name << ", " << to_string(op) << ", ranks " << size << ", "
                        << input.bytes << " bytes via " << to_string(input.via);
                }
            }
        }
    }
}

/// So that sums of floating-point numbers have the same bits everywhere.
TEST(Families, AllToAllCombinesInTheSameOrderOnAllRanks) {
    Random random(23);
    const CostView costs = random_costs(9, random);
    const Plan plan = family("all-to-all").make(Collective::allreduce, quick(costs, random));
    for (Rank rank = 0; rank < plan.size(); ++rank) {
        const auto& steps = plan.steps[static_cast<std::size_t>(rank)];
        ASSERT_EQ(steps.size(), 10U); // The rank's own operand is read, too.
        EXPECT_EQ(steps[0].kind, StepKind::publish);
        for (Rank peer = 0; peer < plan.size(); ++peer) {
            const Step& step = steps[static_cast<std::size_t>(peer) + 1];
            EXPECT_EQ(step.kind, peer == 0 ? StepKind::read : StepKind::read_fold);
            EXPECT_EQ(step.peer, peer);
            EXPECT_FALSE(step.incoming_first);
        }
    }
}

TEST(Families, SearchedPlansNeverLoseToABaselineTree) {
    Random random(13);
    for (int trial = 0; trial < 40; ++trial) {
        const auto size = static_cast<Rank>(2 + random.below(60));
        const CostView costs = random_costs(size, random);
        GenerateInput input = quick(costs, random);
        input.root = static_cast<Rank>(random.below(static_cast<std::uint32_t>(size)));
        input.moves = 20'000;
        for (const Collective op : {Collective::broadcast, Collective::reduce}) {
            const double annealed = evaluate(family("annealed").make(op, input), costs);
            for (const Family& baseline : families()) {
                if (baseline.name == "exact" || baseline.publishes ||
                    !baseline.applies(op, input)) {
                    continue;
                }
                EXPECT_LE(annealed, evaluate(baseline.make(op, input), costs) * 1.000001)
                    << baseline.name << ", ranks " << size;
            }
        }
    }
}

TEST(Families, SmallGroupsAreOptimal) {
    Random random(17);
    for (int trial = 0; trial < 20; ++trial) {
        const auto size = static_cast<Rank>(1 + random.below(9));
        const CostView costs = random_costs(size, random);
        GenerateInput input = quick(costs, random);
        input.moves = 50'000;
        for (const Collective op : {Collective::broadcast, Collective::reduce}) {
            const double exact = evaluate(family("exact").make(op, input), costs);
            const double annealed = evaluate(family("annealed").make(op, input), costs);
            EXPECT_LE(exact, annealed * 1.00001);
            if (input.root >= 0 && size < 8) {
                EXPECT_LE(annealed, exact * 1.01) << "ranks " << size;
            }
        }
    }
}

/// All trees over `left`, by brute force: the reference of the reference.
double best_by_force(const TreeCosts& costs, Rank rank, std::vector<Rank> left);

double serve(const TreeCosts& costs, Rank rank, const std::vector<Rank>& set) {
    return set.empty() ? 0 : best_by_force(costs, rank, set);
}

double best_by_force(const TreeCosts& costs, Rank rank, std::vector<Rank> left) {
    double best = 1e300;
    const auto count = static_cast<std::uint32_t>(left.size());
    for (std::uint32_t child = 0; child < count; ++child) {
        for (std::uint32_t share = 0; share < (1U << count); ++share) {
            if ((share >> child & 1) != 0) {
                continue;
            }
            std::vector<Rank> below;
            std::vector<Rank> rest;
            for (std::uint32_t i = 0; i < count; ++i) {
                if (i != child) {
                    ((share >> i & 1) != 0 ? below : rest).push_back(left[i]);
                }
            }
            const double cost =
                costs.busy(rank, left[child]) +
                std::max(costs.latency(rank, left[child]) + serve(costs, left[child], below),
                         serve(costs, rank, rest));
            best = std::min(best, cost);
        }
    }
    return best;
}

TEST(ExactTrees, EqualBruteForce) {
    Random random(19);
    for (int trial = 0; trial < 10; ++trial) {
        const CostView costs = random_costs(6, random);
        for (const Flow flow : {Flow::up, Flow::down}) {
            const TreeCosts tree_costs(costs, flow);
            const double expected = best_by_force(tree_costs, 2, {0, 1, 3, 4, 5});
            const ExactTrees exact(tree_costs, 2);
            EXPECT_NEAR(exact.cost(2), expected, 1e-3 * expected);
            EXPECT_NEAR(makespan(exact.tree(2), tree_costs), expected, 1e-3 * expected);
        }
    }
}

TEST(Families, SameInputGivesSamePlan) {
    Random random(23);
    const CostView costs = random_costs(31, random);
    const GenerateInput input = quick(costs, random);
    for (const Collective op : all_operations) {
        for (const Family& family : families()) {
            if (family.applies(op, input)) {
                EXPECT_EQ(family.make(op, input), family.make(op, input)) << family.name;
            }
        }
    }
}

TEST(Families, ChangeOfSeedChangesTheSearch) {
    Random random(29);
    const CostView costs = random_costs(40, random);
    GenerateInput input = quick(costs, random);
    const Plan first = family("annealed").make(Collective::broadcast, input);
    input.seed += 1;
    EXPECT_NE(first, family("annealed").make(Collective::broadcast, input));
}

} // namespace
} // namespace corymb::test

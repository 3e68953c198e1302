// SPDX-License-Identifier: Apache-2.0
// Every operation by every family: proved by the checker, run by an independent executor, and
// refused once it is damaged.
#include "../rounds.hpp"
#include "plan/generate/families.hpp"
#include "random_execution.hpp"
#include "refusal.hpp"

#include <corymb/plan.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <set>
#include <string>
#include <vector>

namespace {

using namespace corymb;
using namespace corymb::test;

CostView uniform_costs(Rank size) {
    return {std::vector<std::int32_t>(static_cast<std::size_t>(size), 0), {10}, {30}};
}

bool is_search(const Family& family) {
    return family.name.starts_with("anneal") || family.name.starts_with("exact") ||
           family.name.starts_with("earliest") || family.name.starts_with("smelt");
}

struct Way {
    Mechanism via;
    std::uint64_t bytes;
    std::uint32_t blocks;
};
constexpr Way ways[] = {{Mechanism::line, 8, 1},      {Mechanism::line, 56, 1},
                        {Mechanism::cells, 3000, 1},  {Mechanism::cells, 30'000, 1},
                        {Mechanism::pull, 30'000, 1}, {Mechanism::pull, 30'000, 3},
                        {Mechanism::cells, 30'000, 5}};

/// Calls visit(plan, ordered) for the plans of all cheap families of one operation and size.
void for_each_plan(Collective op, Rank size, Rank root,
                   const std::function<void(const Plan&, bool)>& visit) {
    const CostView costs = uniform_costs(size);
    for (const Way& way : ways) {
        for (const bool ordered : {false, true}) {
            GenerateInput input{.costs = costs};
            input.root = root;
            input.bytes = way.bytes;
            input.via = way.via;
            input.blocks = way.blocks;
            input.ordered = ordered;
            input.moves = 100;
            for (const Family& family : families()) {
                for (const bool addresses_each : {false, true}) {
                    input.addresses_each = addresses_each;
                    if ((!ordered || is_reduction(op)) && !is_search(family) &&
                        (!addresses_each || family.name == "direct") && family.applies(op, input)) {
                        visit(family.make(op, input), ordered);
                    }
                }
            }
        }
    }
}

constexpr Collective with_parts[] = {
    Collective::gather,         Collective::scatter, Collective::allgather, Collective::alltoall,
    Collective::reduce_scatter, Collective::scan,    Collective::exscan};

std::string name_of(const Plan& plan) {
    return plan.algorithm + ", " + std::string(to_string(plan.op)) + ", " +
           std::to_string(plan.size()) + " ranks, root " + std::to_string(plan.root) + ", " +
           std::to_string(plan.bytes_max) + " bytes";
}

TEST(Collectives, AllSmallSizesAndRootsAreProvedAndRun) {
    Random random(31);
    for (const Collective op : with_parts) {
        std::size_t made = 0;
        for (Rank size = 1; size <= 8; ++size) {
            for (Rank root = 0; root < (is_rooted(op) ? size : 1); ++root) {
                for_each_plan(op, size, root, [&](const Plan& plan, bool ordered) {
                    ASSERT_EQ(refusal(plan, ordered), "") << name_of(plan);
                    const bool tight = random.below(2) == 0;
                    const Outcome outcome =
                        RandomExecution(plan, random.next(), tight).run(ordered);
                    ASSERT_TRUE(outcome.finished) << name_of(plan);
                    ASSERT_EQ(outcome.wrong, "") << name_of(plan);
                    ++made;
                });
            }
        }
        EXPECT_GT(made, 40u) << to_string(op);
    }
}

TEST(Collectives, LargeOddAndPrimeGroupsAreProved) {
    Random random(32);
    for (const Collective op : with_parts) {
        // What everybody sends everybody grows with the square of the size.
        const bool quadratic = op == Collective::alltoall || op == Collective::reduce_scatter ||
                               op == Collective::allgather;
        for (const Rank size : {31, 64, rounds(97), rounds(quadratic ? 130 : 1021)}) {
            const CostView costs = uniform_costs(size);
            for (const Family& family : families()) {
                const Way& way = ways[random.below(7)];
                GenerateInput input{.costs = costs};
                input.root = static_cast<Rank>(random.below(static_cast<std::uint32_t>(size)));
                input.via = way.via;
                input.bytes = way.bytes;
                input.moves = 100;
                if (!is_search(family) && family.applies(op, input)) {
                    const Plan plan = family.make(op, input);
                    ASSERT_EQ(refusal(plan, false), "") << name_of(plan);
                }
            }
        }
    }
}

/// Plans with something of every kind, small enough to damage everywhere.
void for_each_small_plan(const std::function<void(const Plan&, bool)>& visit) {
    for (const Collective op : with_parts) {
        for (const Rank size : {3, 4}) {
            for_each_plan(op, size, is_rooted(op) ? 1 : 0, visit);
        }
    }
}

TEST(Collectives, DroppedAndMisdirectedStepsAreRefused) {
    Random random(33);
    std::size_t mutants = 0;
    for_each_small_plan([&](const Plan& plan, bool ordered) {
        // In a barrier some signals may tell a rank what it knows already.
        const bool has_barrier = plan.algorithm == "direct";
        for (std::size_t rank = 0; rank < plan.steps.size(); ++rank) {
            for (std::size_t index = 0; index < plan.steps[rank].size(); ++index) {
                Plan dropped = plan;
                dropped.steps[rank].erase(dropped.steps[rank].begin() +
                                          static_cast<std::ptrdiff_t>(index));
                EXPECT_NE(refusal(dropped, ordered), "")
                    << name_of(plan) << " rank " << rank << " step " << index;
                Plan misdirected = plan;
                Step& step = misdirected.steps[rank][index];
                const Rank before = step.peer;
                step.peer = static_cast<Rank>(random.below(plan.parts() + 3)) % plan.size();
                if (before >= 0 && step.peer != before) {
                    EXPECT_NE(refusal(misdirected, ordered), "") << name_of(plan);
                }
                mutants += has_barrier ? 1 : 2;
            }
        }
    });
    EXPECT_GT(mutants, 5000u);
}

TEST(Collectives, WhatIsAcceptedAfterRandomDamageRunsRight) {
    Random random(34);
    std::size_t accepted = 0;
    std::size_t refused = 0;
    for_each_small_plan([&](const Plan& plan, bool ordered) {
        for (int round = 0; round < 12; ++round) {
            Plan mutant = plan;
            auto& steps = mutant.steps[random.below(static_cast<std::uint32_t>(plan.size()))];
            if (steps.empty()) {
                continue;
            }
            const auto count = static_cast<std::uint32_t>(steps.size());
            Step& step = steps[random.below(count)];
            switch (random.below(5)) {
            case 0: std::swap(step, steps[random.below(count)]); break;
            case 1: step.from.first = random.below(plan.block_count * plan.parts() + 1); break;
            case 2: step.to.first = random.below(plan.block_count * plan.parts() + 1); break;
            case 3: step.to.buffer = static_cast<Buffer>(random.below(3)); break;
            default: step.incoming_first = !step.incoming_first;
            }
            if (refusal(mutant, ordered) != "") {
                ++refused;
                continue;
            }
            ++accepted;
            const Outcome outcome = RandomExecution(mutant, random.next(), true).run(ordered);
            EXPECT_TRUE(outcome.finished && outcome.wrong.empty())
                << outcome.wrong << ' ' << name_of(plan) << to_json(mutant);
        }
    });
    EXPECT_GT(accepted, 100u);
    EXPECT_GT(refused, 1000u);
}

TEST(Collectives, SomePlansOfEachVectorOperationKeepParts) {
    for (const Collective op : with_parts) {
        std::set<std::string> keeping;
        std::set<std::string> others;
        for_each_plan(op, 5, 0, [&](const Plan& plan, bool) {
            (keeps_parts(plan) ? keeping : others).insert(plan.algorithm);
        });
        EXPECT_FALSE(keeping.empty()) << to_string(op);
        if (op == Collective::gather || op == Collective::scatter) {
            EXPECT_TRUE(keeping.contains("star"));
            EXPECT_TRUE(others.contains("binomial"));
        }
        if (op == Collective::allgather || op == Collective::alltoall) {
            EXPECT_TRUE(keeping.contains("direct"));
            EXPECT_TRUE(others.contains("bruck"));
        }
        // In an alltoall of equal parts readers take parts of what is published.
        EXPECT_EQ(others.contains("direct"), op == Collective::alltoall ||
                                                 op == Collective::scatter ||
                                                 op == Collective::reduce_scatter);
        EXPECT_TRUE(has_parts(op) || others.empty());
    }
}

TEST(Collectives, ReproducibleFamiliesCombineAlikeForAnyRootAndMechanism) {
    for (const Collective op : {Collective::reduce, Collective::allreduce,
                                Collective::reduce_scatter, Collective::scan, Collective::exscan}) {
        for (const Rank size : {2, 3, 5, 8, 13}) {
            std::set<std::string> expressions;
            const CostView costs = uniform_costs(size);
            for (const Way& way : ways) {
                for (const Rank root : {0, size - 1}) {
                    GenerateInput input{.costs = costs};
                    input.root = is_rooted(op) ? root : 0;
                    input.bytes = way.bytes;
                    input.via = way.via;
                    for (const Family& family : families()) {
                        if (family.reproducible && family.applies(op, input)) {
                            const Plan plan = family.make(op, input);
                            const Rank holder = is_rooted(op) ? root : size - 1;
                            expressions.insert(expression_of(plan, holder));
                        }
                    }
                }
            }
            EXPECT_EQ(expressions.size(), 1u) << to_string(op) << ' ' << size;
        }
    }
}

} // namespace

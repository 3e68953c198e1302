// SPDX-License-Identifier: Apache-2.0
// Composition over groups of unequal sizes and several levels gives plans that the checker proves.
#include "plan/compose.hpp"

#include "plan/search/levels.hpp"
#include "planning.hpp"

#include <corymb/error.hpp>

#include <gtest/gtest.h>

#include <numeric>
#include <set>
#include <string>

namespace corymb::test {
namespace {

CostView flat_costs(Rank size) {
    return {std::vector<std::int32_t>(static_cast<std::size_t>(size), 0), {10}, {30}};
}

Plan made(std::string_view name, Collective op, Rank size, Rank root, Mechanism via,
          std::uint32_t blocks) {
    const CostView costs = flat_costs(size);
    GenerateInput input{.costs = costs};
    input.root = root;
    input.via = via;
    input.bytes = via == Mechanism::line ? 8 : 20'000;
    input.blocks = blocks;
    input.moves = 100;
    return family(name).make(op, input);
}

/// Random groups of random sizes; ranks are dealt out in any order.
std::vector<RankGroup> random_groups(Random& random, Collective op, Mechanism via) {
    const Rank count = static_cast<Rank>(1 + random.below(5));
    std::vector<RankGroup> groups(static_cast<std::size_t>(count));
    Rank next = 0;
    for (RankGroup& group : groups) {
        const auto size = static_cast<Rank>(1 + random.below(6));
        for (Rank member = 0; member < size; ++member) {
            group.members.push_back(next++);
        }
        group.leader = static_cast<Rank>(random.below(static_cast<std::uint32_t>(size)));
        const std::uint32_t blocks = via == Mechanism::line ? 1 : 1 + random.below(3);
        if (op != Collective::broadcast) {
            group.up = made("binomial", Collective::reduce, size, group.leader, via, blocks);
        }
        if (op != Collective::reduce) {
            group.down = made("star", Collective::broadcast, size, group.leader, via, blocks);
        }
    }
    for (int swap = 0; swap < 10; ++swap) {
        auto& a = groups[random.below(static_cast<std::uint32_t>(count))].members;
        auto& b = groups[random.below(static_cast<std::uint32_t>(count))].members;
        std::swap(a[random.below(static_cast<std::uint32_t>(a.size()))],
                  b[random.below(static_cast<std::uint32_t>(b.size()))]);
    }
    return groups;
}

constexpr Collective composable[] = {Collective::barrier, Collective::broadcast, Collective::reduce,
                                     Collective::allreduce};

TEST(Compose, UnequalGroupsGiveRightPlans) {
    Random random(5);
    for (int trial = 0; trial < 300; ++trial) {
        const Collective op = composable[random.below(4)];
        const Mechanism via = trial % 3 == 0   ? Mechanism::line
                              : trial % 3 == 1 ? Mechanism::cells
                                               : Mechanism::pull;
        const std::vector<RankGroup> groups = random_groups(random, op, via);
        const auto count = static_cast<Rank>(groups.size());
        const auto root = static_cast<Rank>(random.below(static_cast<std::uint32_t>(count)));
        const bool exchanges = op == Collective::allreduce && trial % 2 == 0;
        const Plan leaders =
            made(exchanges ? "recursive-doubling" : "binomial", op, count, root, via, 1);
        const Plan plan = compose(op, groups, leaders, "composed");
        EXPECT_NO_THROW(check_plan(plan)) << to_string(op) << ' ' << to_string(via) << ' ' << count;
        if (is_rooted(op)) {
            const RankGroup& first = groups[static_cast<std::size_t>(root)];
            EXPECT_EQ(plan.root, first.members[static_cast<std::size_t>(first.leader)]);
        }
    }
}

TEST(Compose, RefusesPartsThatDoNotFit) {
    Random random(6);
    const std::vector<RankGroup> groups =
        random_groups(random, Collective::reduce, Mechanism::line);
    const auto count = static_cast<Rank>(groups.size());
    const auto code_of = [&](Collective op, const Plan& leaders) {
        try {
            static_cast<void>(compose(op, groups, leaders, "composed"));
        } catch (const Error& error) {
            return error.code();
        }
        return Errc::io;
    };
    using enum Collective;
    EXPECT_EQ(code_of(reduce, made("star", reduce, count + 1, 0, Mechanism::line, 1)),
              Errc::invalid_argument);
    EXPECT_EQ(code_of(reduce, made("star", broadcast, count, 0, Mechanism::line, 1)),
              Errc::invalid_argument);
    EXPECT_EQ(code_of(gather, made("star", gather, count, 0, Mechanism::line, 1)),
              Errc::invalid_argument);
}

TEST(Compose, FamiliesFollowEveryLevelOfAMachine) {
    for (const char* name : {"opteron-8die-48c-mctop-cycles", "epyc-7r13-2s-192t"}) {
        Machine machine = gallery_machine(name);
        std::vector<int> placement;
        for (int pu = 0; pu < machine.size(); pu += pu % 5 == 3 ? 2 : 1) {
            placement.push_back(pu); // groups of unequal sizes
        }
        const Group group(machine, placement);
        for (const char* which : {"composed-exchange", "composed-direct"}) {
            for (const Collective op : composable) {
                GenerateInput input = group.input();
                input.via = op == Collective::barrier ? Mechanism::line : Mechanism::pull;
                input.bytes = op == Collective::barrier ? 0 : 1 << 20;
                if (family(which).applies(op, input)) {
                    const Plan plan = family(which).make(op, input);
                    EXPECT_NO_THROW(check_plan(plan)) << name << ' ' << which;
                    EXPECT_EQ(plan.algorithm, which);
                }
            }
        }
    }
}

/// On each machine of the gallery: leaders get the payload in messages, once each. All others read
/// what their leader has published.
TEST(Compose, HybridsSendToLeadersAndPublishInGroups) {
    int tried = 0;
    for (const std::string& name : gallery_names()) {
        Machine machine = gallery_machine(name);
        std::vector<int> placement;
        for (int pu = 0; pu < std::min(machine.size(), 128); ++pu) {
            placement.push_back(pu);
        }
        const Group group(machine, placement);
        GenerateInput input = group.input();
        input.moves = 20'000;
        input.root = 1;
        const std::vector<Partition> levels = group_levels(input);
        for (std::size_t level = 0; level < 3; ++level) {
            const std::string which = "hybrid-" + std::to_string(level + 1);
            for (const Collective op :
                 {Collective::barrier, Collective::broadcast, Collective::allreduce}) {
                ASSERT_EQ(family(which).applies(op, input), level < levels.size()) << name;
                if (level < levels.size()) {
                    EXPECT_NO_THROW(check_plan(family(which).make(op, input))) << name << which;
                }
            }
            if (level >= levels.size()) {
                continue;
            }
            ++tried;
            const Plan plan = family(which).make(Collective::broadcast, input);
            std::set<std::int32_t> served{levels[level][1]};
            for (Rank rank = 0; rank < plan.size(); ++rank) {
                const std::int32_t own = levels[level][static_cast<std::size_t>(rank)];
                for (const Step& step : plan.steps[static_cast<std::size_t>(rank)]) {
                    const std::int32_t peers =
                        step.peer < 0 ? -1 : levels[level][static_cast<std::size_t>(step.peer)];
                    if (step.kind == StepKind::recv) {
                        EXPECT_NE(own, peers) << "messages go between groups";
                        EXPECT_TRUE(served.insert(own).second) << "and once to each";
                    } else if (step.kind == StepKind::read) {
                        EXPECT_EQ(own, peers) << "publications stay in a group";
                    }
                }
            }
            const std::set<std::int32_t> groups(levels[level].begin(), levels[level].end());
            EXPECT_EQ(served, groups) << name;
        }
    }
    EXPECT_GT(tried, 20);
}

} // namespace
} // namespace corymb::test

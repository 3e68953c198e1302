// SPDX-License-Identifier: Apache-2.0
// What rank 0 is told of the inside of nodes, and plans that are made with it.
#include "cluster_team/one_of_each.hpp"
#include "cluster_team/switchboard.hpp"
#include "limits.hpp"

#include <corymb/error.hpp>
#include <corymb/usable_cpus.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <sched.h>
#include <string>
#include <thread>
#include <vector>

namespace {

using namespace corymb;
using namespace std::chrono_literals;
using cluster_test::Line;
using cluster_test::on_nodes;
using cluster_test::Switchboard;
using Nodes = std::vector<int>;

/// The calling thread, to one CPU.
void pin_to(int cpu) {
    cpu_set_t set;
    CPU_ZERO(&set);
    CPU_SET(static_cast<std::size_t>(cpu), &set);
    ASSERT_EQ(::sched_setaffinity(0, sizeof set, &set), 0);
}

/// What rank 0 is told, and how many of the others are told something.
struct Told {
    Insides first;
    int others = 0;
};

/// Each node is a team of threads, with `options_of(node)`.
template <class OptionsOf>
Told on_all(const Nodes& where, const OptionsOf& options_of, bool pinned = false) {
    Switchboard board;
    std::map<int, std::unique_ptr<ThreadTeam>> teams;
    for (const int node : where) {
        if (!teams.contains(node)) {
            const auto ranks = static_cast<int>(std::ranges::count(where, node));
            teams[node] = std::make_unique<ThreadTeam>(ranks, options_of(node));
        }
    }
    Told told;
    std::atomic<int> others = 0;
    {
        std::vector<std::jthread> threads;
        for (std::size_t at = 0; at < where.size(); ++at) {
            threads.emplace_back([&, at] {
                const auto rank = static_cast<Rank>(at);
                const int node = where[at];
                const auto place = std::count(where.begin(), where.begin() + rank, node);
                Line line(board, rank);
                if (pinned) {
                    pin_to(usable_cpus().allowed.at(static_cast<std::size_t>(place)));
                }
                const Team local = teams[node]->join(static_cast<Rank>(place));
                Insides insides = known_insides(local, line, where, rank);
                if (rank == 0) {
                    told.first = std::move(insides);
                } else if (!insides.kinds.empty() || !insides.of_node.empty()) {
                    ++others;
                }
            });
        }
    }
    EXPECT_TRUE(board.is_empty());
    told.others = others;
    return told;
}

TEST(Insides, OfNodesThatAreAlikeAreOneKind) {
    if (usable_cpus().count() < 2) {
        GTEST_SKIP() << "there is one CPU";
    }
    const Told told = on_all({0, 1, 2, 0, 1, 2, 3}, [](int) { return TeamOptions{}; });
    EXPECT_EQ(told.others, 0);
    ASSERT_EQ(told.first.of_node, (Nodes{0, 0, 0, -1})) << "of one rank nobody asks";
    ASSERT_EQ(told.first.kinds.size(), 1U);
    EXPECT_EQ(told.first.kinds[0].machine.size(), 2);
}

/// A thread that is bound to one CPU still has teammates elsewhere.
TEST(Insides, AreKnownOfPinnedThreads) {
    if (usable_cpus().count() < 2) {
        GTEST_SKIP() << "there is one CPU";
    }
    const Told told = on_all({0, 0, 1, 1}, [](int) { return TeamOptions{}; }, true);
    EXPECT_EQ(told.first.of_node, (Nodes{0, 0}));
}

/// Rank 1 is the first of a node with another version of corymb, which tells this.
void expect_unknown(const std::string& text) {
    Switchboard board;
    ThreadTeam own(1, {});
    ThreadTeam third(1, {});
    Insides told;
    {
        std::jthread foreign([&] {
            Line line(board, 1);
            const auto say = [&](const void* data, std::size_t bytes) {
                static_cast<void>(line.send(data, bytes, 0, Carrier::Channel::data, 0));
            };
            const std::string likeness(64, 'f');
            const std::uint64_t length = text.size();
            say(likeness.data(), likeness.size());
            say(&length, sizeof length);
            say(text.data(), text.size());
            char is_wanted = 0;
            const auto ticket = line.receive(&is_wanted, 1, 0, Carrier::Channel::data);
            for (Carrier::Arrival arrival; !line.test(ticket, arrival);) {
                std::this_thread::yield();
            }
            EXPECT_EQ(is_wanted, 1);
        });
        std::jthread last([&] {
            Line line(board, 2);
            EXPECT_NO_THROW(
                static_cast<void>(known_insides(third.join(0), line, {0, 1, 2}, 2, test_limit())));
        });
        Line line(board, 0);
        told = known_insides(own.join(0), line, {0, 1, 2}, 0, test_limit());
    }
    EXPECT_EQ(told.of_node, (Nodes{-1, -1, -1})) << text;
    EXPECT_TRUE(told.kinds.empty());
}

TEST(Insides, ThatCannotBeReadAreUnknown) {
    expect_unknown("0 0\n{\"schema\":\"corymb-machine/99\"}");
    expect_unknown(to_json(NodeKind::of_shape({}).machine)); // Without the line before it.
    expect_unknown("\n");
}

TEST(Insides, AreTheCpusOfTheRanks) {
    const std::vector<int> cpus = usable_cpus().allowed;
    if (usable_cpus().count() < 2) {
        GTEST_SKIP() << "there is one CPU";
    }
    const Told told = on_all({1, 0, 0, 1}, [&](int node) {
        TeamOptions options;
        options.cpus = node == 0 ? std::vector{cpus[1], cpus[0]} : std::vector{cpus[0], cpus[1]};
        return options;
    });
    ASSERT_EQ(told.first.of_node, (Nodes{0, 0})) << "they are alike, but for the numbers of CPUs";
    ASSERT_EQ(told.first.kinds.size(), 1U);
    EXPECT_EQ(told.first.kinds[0].machine.topology.pus.at(0).cpu, cpus[1]) << "of node 0";
    EXPECT_EQ(told.first.kinds[0].machine.topology.pus.at(1).cpu, cpus[0]);
}

TEST(Insides, AreUnknownWhereRanksShareCpus) {
    const auto ranks = static_cast<std::size_t>(usable_cpus().count()) + 1;
    Nodes where(ranks, 1);
    where.insert(where.begin(), 0);
    const Told told = on_all(where, [](int) { return TeamOptions{}; });
    EXPECT_EQ(told.first.of_node, (Nodes{-1, -1}));
}

TEST(Insides, AreWaitedForNoLongerThanTheDeadline) {
    Switchboard board;
    Line line(board, 0);
    ThreadTeam own(1, {});
    const Team local = own.join(0);
    try {
        static_cast<void>(known_insides(local, line, {0, 1}, 0, 50ms));
        ADD_FAILURE() << "nobody answered";
    } catch (const Error& error) {
        EXPECT_EQ(error.code(), Errc::timeout) << error.what();
    }
    EXPECT_EQ(line.posted(), 0U);
}

/// Two packages far from each other, ranks in turns on both.
Insides crosswise(const Nodes& where) {
    Insides insides;
    for (int node = 0; node <= std::ranges::max(where); ++node) {
        const auto ranks = static_cast<int>(std::ranges::count(where, node));
        Machine machine = NodeKind::of_shape({2, ranks, 30, 3000, 10}).machine;
        for (int rank = 0; rank < ranks; ++rank) {
            machine.group[static_cast<std::size_t>(rank)] = rank % 2;
            machine.topology.pus[static_cast<std::size_t>(rank)].package = rank % 2;
        }
        machine.topology.pus.resize(static_cast<std::size_t>(ranks));
        machine.group.resize(static_cast<std::size_t>(ranks));
        insides.kinds.push_back(NodeKind::of_machine(machine));
        insides.of_node.push_back(node);
    }
    return insides;
}

TEST(Insides, SayWhoLeadsWhom) {
    for (const Nodes& where : {Nodes{0, 0, 0, 0, 1, 1, 1, 1}, Nodes{1, 0, 0, 1, 1, 0, 1, 2, 0}}) {
        ClusterOptions options;
        options.networks = {{{1000, 100, 10, 40}}, {}};
        options.insides = crosswise(where);
        options.rehearse = false;
        std::atomic<int> near_plans = 0;
        on_nodes(
            where,
            [&](Team& team) {
                for (const std::size_t count : {1U, 2000U}) {
                    for (int round = 0; round < 2; ++round) {
                        cluster_test::OneOfEach all(team, count, round);
                        team.complete_all();
                        EXPECT_EQ(all.wrong(), "") << count;
                    }
                }
                for (const ChosenPlan& chosen : team.chosen_plans()) {
                    near_plans += chosen.algorithm.find("/near") != std::string::npos ? 1 : 0;
                }
            },
            options);
        EXPECT_GT(near_plans, 0);
    }
}

TEST(Insides, AreToldInAFewWords) {
    Insides insides = crosswise({0, 1, 2});
    insides.kinds[1].machine.source = "measured";
    EXPECT_EQ(to_text(insides), "1 node as measured, 2 by topology, not measured");
    insides.of_node = {-1, 1, 1, -1};
    EXPECT_EQ(to_text(insides), "2 nodes as measured, 2 of which nothing is known");
    EXPECT_EQ(to_text(Insides{}), "");
}

TEST(Insides, ThatDoNotFitAreRefused) {
    const Nodes where{0, 1, 1};
    for (const auto& change : std::vector<std::function<void(Insides&)>>{
             [](Insides& insides) { insides.of_node.pop_back(); },
             [](Insides& insides) { insides.of_node[1] = 2; },
             [](Insides& insides) { insides.of_node[1] = -2; },
             [](Insides& insides) {
                 insides.of_node[1] = 0;
             }}) {
        ClusterOptions options;
        options.insides = crosswise(where);
        change(options.insides);
        std::vector<std::string> thrown;
        on_nodes(where, [](Team&) {}, options, &thrown);
        for (const std::string& text : thrown) {
            EXPECT_NE(text.find("ClusterOptions::insides"), std::string::npos) << text;
        }
    }
}

} // namespace

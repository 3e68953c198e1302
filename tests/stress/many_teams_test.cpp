// SPDX-License-Identifier: Apache-2.0
// Many teams at once, on threads that the user made, coming and going.
#include "stress.hpp"

#include <base/random.hpp>

#include <corymb/team.hpp>

#include <gtest/gtest.h>

#include <cstdint>
#include <memory>
#include <thread>
#include <vector>

namespace corymb {
namespace {

/// Starts `count` threads of the standard library and joins them.
template <class Body>
void run_threads(int count, Body body) {
    std::vector<std::jthread> threads;
    for (int index = 0; index < count; ++index) {
        threads.emplace_back([&body, index] { body(index); });
    }
}

TEST(ManyTeamsTest, OneThreadIsInManyTeamsAtOnce) {
    constexpr int members = 4;
    constexpr int teams_count = 12;
    std::vector<std::unique_ptr<ThreadTeam>> teams;
    for (int index = 0; index < teams_count; ++index) {
        const auto seed = static_cast<std::uint64_t>(index);
        teams.push_back(
            std::make_unique<ThreadTeam>(members, stress::options(stress::mixed_plans(seed))));
    }
    run_threads(members, [&](int thread) {
        std::vector<Team> mine;
        for (int index = 0; index < teams_count; ++index) {
            // Another rank in each team.
            mine.push_back(
                teams[static_cast<std::size_t>(index)]->join((thread + index) % members));
        }
        Random random(1);
        for (std::uint64_t k = 0; k < stress::rounds(300); ++k) {
            Team& team = mine[random.below(teams_count)];
            if (k % 3 == 0) {
                team.barrier();
            } else {
                EXPECT_EQ(team.allreduce(team.rank() + 1), members * (members + 1) / 2);
            }
        }
    });
}

TEST(ManyTeamsTest, IndependentTeamsDoNotMeet) {
    run_threads(4, [&](int group) {
        threads(
            3,
            [&](Team& team) {
                for (std::uint64_t k = 0; k < stress::rounds(100); ++k) {
                    const int value = group * 1000 + static_cast<int>(k);
                    EXPECT_EQ(team.broadcast(team.rank() == 1 ? value : -1, 1), value);
                    team.barrier();
                }
            },
            stress::options(stress::mixed_plans(static_cast<std::uint64_t>(group))));
    });
}

TEST(ManyTeamsTest, TeamsComeAndGo) {
    for (std::uint64_t round = 0; round < stress::rounds(60); ++round) {
        const int members = 1 + static_cast<int>(round % 5);
        ThreadTeam team(members, stress::options(stress::mixed_plans(round)));
        run_threads(members, [&](int rank) {
            Team mine = team.join(rank);
            EXPECT_EQ(mine.allreduce(1), members);
            mine.barrier();
        });
    }
}

TEST(ManyTeamsTest, AHandleMovesBetweenThreads) {
    ThreadTeam team(2, stress::options(stress::mixed_plans(3)));
    std::vector<Team> handles;
    handles.push_back(team.join(0));
    handles.push_back(team.join(1));
    for (std::uint64_t round = 0; round < stress::rounds(20); ++round) {
        run_threads(2, [&](int index) {
            Team mine = std::move(handles[static_cast<std::size_t>(index)]);
            EXPECT_EQ(mine.allreduce(mine.rank()), 1);
            handles[static_cast<std::size_t>(index)] = std::move(mine);
        });
    }
}

TEST(ManyTeamsTest, ThirtyTwoRanksShareTheCpus) {
    threads(
        32,
        [&](Team& team) {
            for (std::uint64_t k = 0; k < stress::rounds(20); ++k) {
                team.barrier();
                EXPECT_EQ(team.allreduce(1), 32);
            }
        },
        stress::options());
}

TEST(ManyTeamsTest, RanksThatComeLateAreWaitedFor) {
    threads(
        4,
        [&](Team& team) {
            Random random(static_cast<std::uint64_t>(team.rank()));
            for (std::uint64_t k = 0; k < stress::rounds(30); ++k) {
                if (random.below(4) == 0) {
                    std::this_thread::sleep_for(std::chrono::microseconds(random.below(3000)));
                }
                const int value = static_cast<int>(k);
                const Rank root = value % team.size();
                EXPECT_EQ(team.broadcast(team.rank() == root ? value : -1, root), value);
                EXPECT_EQ(team.allreduce(value), 4 * value);
            }
        },
        stress::options(stress::mixed_plans(8)));
}

} // namespace
} // namespace corymb

// SPDX-License-Identifier: Apache-2.0
#include "remote/among.hpp"

#include <corymb/error.hpp>
#include <corymb/rank_barrier.hpp>
#include <corymb/scheduler.hpp>
#include <corymb/this_task.hpp>
#include <corymb/when.hpp>

#include <atomic>
#include <chrono>
#include <gtest/gtest.h>
#include <random>
#include <string>
#include <vector>

namespace corymb {
namespace {

using std::chrono_literals::operator""ms;

class BarrierOf : public testing::TestWithParam<int> {};

TEST_P(BarrierOf, NobodyGoesAheadOfTheOthers) {
    const int size = GetParam();
    std::vector<std::atomic<int>> came(static_cast<std::size_t>(size));
    among(size, [&came, size](Rank rank) -> Task<> {
        RankBarrier barrier("all");
        std::minstd_rand random(static_cast<unsigned>(rank) + 1);
        for (int phase = 1; phase <= 30; ++phase) {
            for (auto turns = random() % 4; turns != 0; --turns) {
                co_await this_task::yield();
            }
            came[static_cast<std::size_t>(rank)] = phase;
            co_await barrier.arrive();
            for (int other = 0; other < size; ++other) {
                const int there = came[static_cast<std::size_t>(other)];
                EXPECT_TRUE(there == phase || there == phase + 1) << there << " in " << phase;
            }
        }
    });
}

INSTANTIATE_TEST_SUITE_P(Sizes, BarrierOf, testing::Values(1, 2, 3, 5, 8));

TEST(RankBarrier, ARankThatLeavesIsNamedToAll) {
    constexpr int size = 5;
    RemoteGroup group(size);
    std::vector<std::jthread> threads;
    for (Rank rank = 0; rank < size; ++rank) {
        threads.emplace_back([&group, rank] {
            RemoteRank own = group.join(rank);
            if (rank == 3) {
                own.scheduler().poll();
                return;
            }
            own.run([]() -> Task<> {
                RankBarrier barrier("left");
                for (int time = 0; time < 2; ++time) {
                    try {
                        co_await barrier.arrive();
                        ADD_FAILURE() << "a rank was not there";
                    } catch (const Error& error) {
                        EXPECT_EQ(error.code(), Errc::team_broken);
                        EXPECT_EQ(error.ranks(), std::vector<int>{3}) << error.what();
                    }
                }
            }());
        });
    }
}

TEST(RankBarrier, AStoppedRankHoldsUpNobody) {
    std::atomic<bool> was_stopped{false};
    among(3, [&was_stopped](Rank rank) -> Task<> {
        RankBarrier barrier("stopped");
        while (rank == 2 && !was_stopped) {
            co_await this_task::sleep_for(1ms);
        }
        try {
            rank == 0 ? co_await within(1ms, barrier.arrive()) : co_await barrier.arrive();
            ADD_FAILURE() << "a rank was not there";
        } catch (const Error& error) {
            EXPECT_EQ(error.code(), rank == 0 ? Errc::timeout : Errc::team_broken) << error.what();
            was_stopped = true;
        }
    });
}

} // namespace
} // namespace corymb

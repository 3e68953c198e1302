// SPDX-License-Identifier: Apache-2.0
#include "refuse_call.hpp"
#include "remote/refusal.hpp"

#include <corymb/scheduler.hpp>
#include <corymb/team.hpp>
#include <corymb/this_task.hpp>
#include <corymb/when.hpp>

#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstdint>
#include <gtest/gtest.h>
#include <numeric>
#include <span>
#include <thread>
#include <vector>

namespace corymb {
namespace {

using namespace std::chrono_literals;

TEST(RequestInATask, CollectivesOfTwoTeamsGoOnTogether) {
    threads(3, [](Team& team) {
        Team other = team.split(0, team.rank());
        auto sum = [](Team& of, int rounds) -> Task<double> {
            double total = 0;
            for (int i = 0; i < rounds; ++i) {
                const double mine = of.rank() + 1;
                double all = 0;
                co_await of.iallreduce(std::span(&mine, 1), std::span(&all, 1));
                total += all;
            }
            co_return total;
        };
        Scheduler scheduler;
        const auto [first, second] = scheduler.run(when_all(sum(team, 200), sum(other, 100)));
        EXPECT_EQ(first, 200 * 6);
        EXPECT_EQ(second, 100 * 6);
    });
}

TEST(RequestInATask, OtherTasksHaveTheirTurnsMeanwhile) {
    constexpr int turns_least = 10;
    std::atomic<int> turns{0}; // Rank 0 makes them during the barrier.
    threads(2, [&turns](Team& team) {
        auto enter = [](Team& of, const std::atomic<int>& seen) -> Task<> {
            while (of.rank() == 1 && seen < turns_least) {
                co_await this_task::yield();
            }
            co_await of.ibarrier();
        };
        auto main = [&]() -> Task<> {
            Spawned<void> barrier = spawn(enter(team, turns));
            while (!barrier.is_over()) {
                turns += team.rank() == 0 ? 1 : 0;
                co_await this_task::yield();
            }
            co_await barrier;
        };
        Scheduler scheduler;
        scheduler.run(main());
    });
    EXPECT_GE(turns, turns_least);
}

void sleep_in_turn(WaitPolicy policy) {
    threads(2, [policy](Team& team) {
        auto main = [](Team& of) -> Task<> {
            for (int i = 0; i < 20; ++i) {
                if (of.rank() == i % 2) {
                    std::this_thread::sleep_for(300us); // The other rank falls asleep.
                }
                co_await of.ibarrier();
            }
        };
        Scheduler scheduler(SchedulerOptions{.wait = policy});
        scheduler.run(main(team));
    });
}

TEST(RequestInATask, ASleepingRankIsWoken) {
    for (const WaitPolicy policy : {WaitPolicy::ladder, WaitPolicy::park, WaitPolicy::yield}) {
        sleep_in_turn(policy);
    }
}

TEST(RequestInATask, ASleepingRankIsWokenWhereTheKernelWaitsForOneWord) {
    constexpr std::uint32_t futex_waitv = 449;
    for (const int error : {ENOSYS, EPERM}) {
        std::jthread([error] {
            refuse_call(futex_waitv, static_cast<std::uint32_t>(
                                         error)); // In this thread, and in those that it starts.
            sleep_in_turn(WaitPolicy::park);
        }).join();
    }
}

TEST(RequestInATask, MessagesBetweenRanks) {
    threads(2, [](Team& team) {
        auto pass = [](Team& of, int rounds) -> Task<int> {
            int ball = 0;
            for (int i = 0; i < rounds; ++i) {
                if (of.rank() == 0) {
                    ++ball;
                    co_await of.isend(std::span<const int>(&ball, 1), 1);
                    co_await of.irecv(std::span<int>(&ball, 1), 1);
                } else {
                    co_await of.irecv(std::span<int>(&ball, 1), 0);
                    ++ball;
                    co_await of.isend(std::span<const int>(&ball, 1), 0);
                }
            }
            co_return ball;
        };
        Scheduler scheduler;
        EXPECT_EQ(scheduler.run(pass(team, 100)), 200);
    });
}

TEST(RequestInATask, AFailureComesOutOfTheAwait) {
    TeamOptions options;
    options.deadline = 100ms;
    EXPECT_THROW(threads(
                     2,
                     [](Team& team) {
                         if (team.rank() == 0) {
                             auto main = [](Team& of) -> Task<> {
                                 co_await of.ibarrier();
                             };
                             Scheduler scheduler;
                             EXPECT_EQ(refusal([&] { scheduler.run(main(team)); }), Errc::timeout);
                         } else {
                             std::this_thread::sleep_for(600ms);
                         }
                         throw Error(Errc::interrupted, "the end");
                     },
                     options),
                 Error);
}

TEST(RequestInATask, ASchedulerMayEndFirst) {
    threads(2, [](Team& team) {
        auto main = [](Team& of) -> Task<> {
            Request request = of.ibarrier();
            co_await request;
        };
        {
            Scheduler scheduler;
            scheduler.spawn(main(team));
            scheduler.poll();
        } // The request waits in its destructor.
        team.barrier();
    });
}

TEST(RequestInATask, APersistentRequestIsAwaitedManyTimes) {
    threads(2, [](Team& team) {
        std::vector<int> in(4);
        std::vector<int> out(4);
        auto main = [&](Team& of) -> Task<> {
            Request request = of.allreduce_init(std::span<const int>(in), std::span<int>(out));
            for (int i = 0; i < 50; ++i) {
                std::iota(in.begin(), in.end(), i);
                request.start();
                co_await request;
                EXPECT_EQ(out[3], 2 * (i + 3));
            }
        };
        Scheduler scheduler;
        scheduler.run(main(team));
    });
}

} // namespace
} // namespace corymb

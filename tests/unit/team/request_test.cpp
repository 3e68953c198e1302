// SPDX-License-Identifier: Apache-2.0
// Nonblocking and persistent operations. Where it can, one thread plays all ranks, so that nothing
// but the calls of the test drives them.
#include "limits.hpp"
#include "sample_plans.hpp"

#include <corymb/team.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <malloc.h>
#include <memory>
#include <numeric>
#include <random>
#include <stdexcept>
#include <thread>
#include <vector>

namespace corymb {
namespace {

using namespace std::chrono_literals;
using namespace team_test;

/// Reduce along a chain to rank 0, which then tells everybody.
Plan chain_allreduce(int size, std::uint64_t bytes, Mechanism via) {
    Plan plan = chain_reduce(size, bytes, via);
    plan.op = Collective::allreduce;
    const Blocks all{Buffer::output, 0, 1};
    for (int rank = 1; rank < size; ++rank) {
        plan.steps[0].push_back(step(StepKind::send, via, rank, all));
        plan.steps[static_cast<std::size_t>(rank)].push_back(step(StepKind::recv, via, 0, {}, all));
    }
    return plan;
}

TeamOptions small_plans(std::chrono::nanoseconds deadline = test_limit()) {
    TeamOptions options;
    options.deadline = deadline;
    options.plans = [](const PlanNeed& need) {
        const auto via = need.bytes <= line_payload_bytes ? Mechanism::line : Mechanism::cells;
        switch (need.op) {
        case Collective::broadcast: return star_broadcast(need.size, need.root, need.bytes, via);
        case Collective::reduce: return chain_reduce(need.size, need.bytes, via);
        case Collective::allreduce: return chain_allreduce(need.size, need.bytes, via);
        default: return dissemination(need.size);
        }
    };
    return options;
}

/// All ranks of a team, played by this thread.
struct AllRanks {
    explicit AllRanks(int size, const TeamOptions& options = small_plans()) : team(size, options) {
        for (Rank rank = 0; rank < size; ++rank) {
            handles.push_back(team.join(rank));
        }
    }
    ThreadTeam team;
    std::vector<Team> handles;
};

std::span<const int> input(const int& value) {
    return {&value, 1};
}
std::span<int> output(int& value) {
    return {&value, 1};
}

TEST(RequestTest, StartAndTestReturnWhateverPeersDo) {
    AllRanks ranks(2);
    constexpr int count = 1000;
    std::array<std::vector<int>, 2> in;
    std::array<std::vector<int>, 2> out;
    std::array<std::vector<Request>, 2> requests;
    for (std::size_t rank = 0; rank < 2; ++rank) {
        in[rank].resize(count);
        out[rank].resize(count);
        std::iota(in[rank].begin(), in[rank].end(), rank == 0 ? 0 : 5000);
    }
    // Rank 1 has not begun anything: each of these calls would hang if it waited for it.
    for (std::size_t i = 0; i < count; ++i) {
        requests[0].push_back(ranks.handles[0].iallreduce(input(in[0][i]), output(out[0][i])));
    }
    for (Request& request : requests[0]) {
        EXPECT_FALSE(request.test());
        EXPECT_TRUE(request.is_active());
    }
    EXPECT_EQ(ranks.handles[0].progress(), 1000u);
    for (std::size_t i = 0; i < count; ++i) {
        requests[1].push_back(ranks.handles[1].iallreduce(input(in[1][i]), output(out[1][i])));
    }
    std::vector<std::size_t> order(count);
    std::iota(order.begin(), order.end(), 0u);
    std::shuffle(order.begin(), order.end(), std::mt19937(7));
    std::size_t turns = 0;
    for (const std::size_t i : order) { // Completed in any order.
        while (!requests[0][i].test()) {
            static_cast<void>(ranks.handles[1].progress());
            ASSERT_LT(++turns, 100'000u);
        }
        EXPECT_EQ(out[0][i], 5000 + 2 * static_cast<int>(i));
        EXPECT_FALSE(requests[0][i].valid());
    }
    wait_all(requests[1]);
    for (std::size_t i = 0; i < count; ++i) {
        EXPECT_EQ(out[1][i], out[0][i]);
    }
    EXPECT_EQ(ranks.handles[1].progress(), 0u);
}

TEST(RequestTest, ManyAreCompletedInAnOrderOfEachRanksOwn) {
    threads(
        3,
        [](Team& team) {
            constexpr std::size_t count = 1200;
            std::vector<int> in(count), out(count);
            std::vector<Request> requests;
            for (std::size_t i = 0; i < count; ++i) {
                in[i] = static_cast<int>(i) * (team.rank() + 1);
                if (i % 3 == 0) {
                    requests.push_back(team.ibarrier());
                } else {
                    requests.push_back(team.iallreduce(input(in[i]), output(out[i])));
                }
                if (i % 100 == 0) {
                    team.barrier(); // Blocking ones come in between.
                }
            }
            std::vector<std::size_t> order(count);
            std::iota(order.begin(), order.end(), 0u);
            std::shuffle(order.begin(), order.end(),
                         std::mt19937(static_cast<unsigned>(team.rank())));
            for (const std::size_t i : order) {
                requests[i].wait();
                ASSERT_EQ(out[i], i % 3 == 0 ? 0 : static_cast<int>(i) * 6);
            }
        },
        small_plans());
}

TEST(RequestTest, WaitAnyFindsTheOneThatIsDone) {
    AllRanks ranks(2);
    int value[2] = {0, 0};
    std::vector<Request> mine;
    mine.push_back(ranks.handles[0].irecv(output(value[0]), 1));
    mine.push_back(ranks.handles[0].ibroadcast(output(value[1]), 1));
    int sent = 42;
    ranks.handles[1].ibroadcast(output(sent), 1).wait();
    EXPECT_EQ(wait_any(mine), 1u);
    EXPECT_EQ(value[1], 42);
    EXPECT_TRUE(mine[0].is_active());
    EXPECT_FALSE(mine[1].valid());
    ranks.handles[1].send(input(sent), 0);
    EXPECT_EQ(wait_any(mine), 0u);
    EXPECT_EQ(value[0], 42);
    EXPECT_EQ(wait_any(mine), no_request);
}

TEST(RequestTest, ABlockingCallGoesOnWithTheOthers) {
    // Rank 1 passes on what rank 2 sends late, while it is in a barrier that rank 0 enters only
    // after the reduction.
    threads(
        3,
        [](Team& team) {
            const int mine = 1 << team.rank();
            int all = 0;
            if (team.rank() == 2) {
                std::this_thread::sleep_for(30ms); // Time enough for rank 1 to fall asleep.
            }
            Request request = team.ireduce(input(mine), output(all));
            if (team.rank() == 0) {
                request.wait();
                EXPECT_EQ(all, 7);
            }
            team.barrier();
            if (team.rank() != 0) {
                request.wait();
            }
        },
        small_plans());
}

TEST(RequestTest, EveryWaitPolicyCompletes) {
    for (const auto policy :
         {WaitPolicy::ladder, WaitPolicy::spin, WaitPolicy::yield, WaitPolicy::park}) {
        TeamOptions options = small_plans();
        options.wait = policy;
        threads(
            2,
            [](Team& team) {
                for (int i = 0; i < 100; ++i) {
                    int sum = 0;
                    Request one = team.iallreduce(input(i), output(sum));
                    Request two = team.ibarrier();
                    two.wait();
                    one.wait();
                    ASSERT_EQ(sum, 2 * i);
                }
            },
            options);
    }
}

TEST(RequestTest, PersistentOperationsAreStartedManyTimes) {
    threads(
        3,
        [](Team& team) {
            int in = 0;
            int sum = 0;
            int told = 0;
            std::vector<Request> requests;
            requests.push_back(team.allreduce_init(input(in), output(sum)));
            requests.push_back(team.barrier_init());
            requests.push_back(team.broadcast_init(output(told), 2));
            for (int round = 0; round < 200; ++round) {
                in = round + team.rank();
                told = team.rank() == 2 ? round : -1;
                if (team.rank() == 1) { // Lanes of their own: the order is free.
                    std::for_each(requests.rbegin(), requests.rend(),
                                  [](Request& request) { request.start(); });
                } else {
                    start_all(requests);
                }
                wait_all(requests);
                ASSERT_EQ(sum, 3 * round + 3);
                ASSERT_EQ(told, round);
            }
        },
        small_plans());
}

TEST(RequestTest, PersistentOperationsAreAsManyAsNeeded) {
    constexpr int count = 700;
    AllRanks ranks(3);
    struct Made {
        std::array<int, count> in{};
        std::array<int, count> sums{};
        std::vector<Request> requests;
    };
    std::array<Made, 3> made;
    const auto make = [&](Rank rank) {
        auto& [in, sums, requests] = made[static_cast<std::size_t>(rank)];
        requests.clear(); // So other ranks may still have those before.
        for (std::size_t i = 0; i < count; ++i) {
            requests.push_back(ranks.handles[static_cast<std::size_t>(rank)].allreduce_init(
                input(in[i]), output(sums[i])));
        }
    };
    for (int round = 0; round < 3; ++round) {
        for (const Rank rank : {(0 + round) % 3, (1 + round) % 3, (2 + round) % 3}) {
            make(rank);
        }
        for (Rank rank = 0; rank < 3; ++rank) {
            auto& [in, sums, requests] = made[static_cast<std::size_t>(rank)];
            std::iota(in.begin(), in.end(), rank + round);
            if (rank == 1) {
                std::ranges::reverse(requests);
            }
            start_all(requests);
        }
        bool all_done = false;
        while (!all_done) { // This thread is all ranks, so it must not wait.
            all_done = true;
            for (Made& one : made) {
                for (Request& request : one.requests) {
                    all_done = (!request.is_active() || request.test()) && all_done;
                }
            }
        }
        for (const Made& one : made) {
            for (int i = 0; i < count; ++i) {
                ASSERT_EQ(one.sums[static_cast<std::size_t>(i)], 3 * (i + round) + 3);
            }
        }
    }
}

/// Rank 1 lets go of none for a while.
TEST(RequestTest, AFastRankWaitsForLanesOfPersistentOperations) {
    constexpr int count = 20'000;
    threads(
        2,
        [](Team& team) {
            if (team.rank() == 1) {
                std::this_thread::sleep_for(1s);
            }
            int told = -1;
            for (int i = 0; i < count; ++i) {
                told = team.rank() == 0 ? i : -1;
                Request request = team.broadcast_init(output(told));
                request.start();
                request.wait();
                ASSERT_EQ(told, i);
            }
        },
        small_plans());
}

TEST(RequestTest, HasALimitOfPersistentOperationsThatAreHeld) {
    AllRanks ranks(1);
    std::vector<Request> held;
    try {
        for (int i = 0; i < 17'000; ++i) {
            held.push_back(ranks.handles[0].barrier_init());
        }
        ADD_FAILURE() << "no error";
    } catch (const Error& error) {
        EXPECT_EQ(error.code(), Errc::unsupported);
    }
    EXPECT_EQ(held.size(), 1U << 14U);
    held.pop_back();
    held.push_back(ranks.handles[0].barrier_init());
}

/// Rank 1 starts the second when it has the first, which rank 0 has to go on with.
TEST(RequestTest, TestsOfOneGoOnWithTheOthers) {
    constexpr std::size_t count = 100'000;
    threads(
        2,
        [](Team& team) {
            const std::vector<int> in(count, team.rank() + 1);
            std::vector<int> sums(count);
            int sum = 0;
            Request first = team.iallreduce(std::span<const int>(in), std::span(sums));
            Request second;
            if (team.rank() == 1) {
                while (!first.test()) {
                    std::this_thread::yield();
                }
            }
            second = team.iallreduce(input(in.front()), output(sum));
            while (!second.test()) {
                std::this_thread::yield();
            }
            EXPECT_EQ(sum, 3);
            if (team.rank() == 0) {
                first.wait();
            }
            EXPECT_EQ(sums, std::vector<int>(count, 3));
        },
        small_plans());
}

TEST(RequestTest, AnEmptyPayloadIsDoneAtOnce) {
    AllRanks ranks(2);
    Request request = ranks.handles[0].ibroadcast(std::span<int>());
    EXPECT_TRUE(request.test());
    Request again = ranks.handles[0].allreduce_init(std::span<const int>(), std::span<int>());
    again.start();
    again.wait();
    again.start();
    EXPECT_TRUE(again.test());
}

Errc code_of(const std::function<void()>& call) {
    try {
        call();
    } catch (const Error& error) {
        return error.code();
    }
    ADD_FAILURE() << "no error";
    return Errc::io;
}

TEST(RequestTest, MisuseIsRefused) {
    AllRanks ranks(2);
    Team& team = ranks.handles[0];
    const auto refused = [](const std::function<void()>& call) {
        EXPECT_EQ(code_of(call), Errc::invalid_argument);
    };
    Request empty;
    refused([&] { empty.wait(); });
    refused([&] { static_cast<void>(empty.test()); });
    refused([&] { empty.start(); });
    Request once = ranks.handles[1].isend(std::span<const int>(), 0);
    once.wait();
    refused([&] { once.wait(); });
    team.recv(std::span<int>(), 1);
    Request persistent = team.barrier_init();
    refused([&] { persistent.wait(); });
    persistent.start();
    refused([&] { persistent.start(); });
    Request other = ranks.handles[1].barrier_init();
    other.start();
    other.wait();
    persistent.wait();
    int value = 0;
    Request simple = team.irecv(output(value), 1);
    refused([&] { simple.start(); });
    ranks.handles[1].send(input(value), 0);
    simple.wait();
    refused([&] { static_cast<void>(team.irecv(output(value), 2)); });
    refused([&] { static_cast<void>(team.ibroadcast(output(value), -1)); });
    refused([&] { static_cast<void>(team.iallreduce(std::span<const int>(), output(value))); });
    refused([&] { team.broadcast(std::span<int>(static_cast<int*>(nullptr), 3)); });
    int pair[3] = {};
    refused([&] { team.allreduce(std::span<const int>(pair, 2), std::span<int>(pair + 1, 2)); });
    Team moved = std::move(ranks.handles[1]);
    refused([&] { ranks.handles[1].barrier(); });
    refused([&] { static_cast<void>(ranks.handles[1].ibarrier()); });
}

TEST(RequestTest, ALateRankIsNamedByWait) {
    AllRanks ranks(3, small_plans(50ms));
    Request first = ranks.handles[0].ibarrier();
    Request second = ranks.handles[0].ibarrier();
    static_cast<void>(ranks.handles[1].ibarrier()); // Its destructor waits in vain, too.
    try {
        second.wait();
        FAIL() << "the barrier was completed without rank 2";
    } catch (const Error& error) {
        EXPECT_TRUE(std::string(error.what()).find("rank 2") != std::string::npos) << error.what();
    }
    EXPECT_FALSE(second.valid());
    EXPECT_THROW(static_cast<void>(first.test()), Error);
    EXPECT_EQ(code_of([&] { static_cast<void>(ranks.handles[2].ibarrier()); }), Errc::team_broken);
}

TEST(RequestTest, AMissingMessageIsNamed) {
    AllRanks ranks(2, small_plans(50ms));
    int value = 0;
    Request request = ranks.handles[0].irecv(output(value), 1);
    try {
        request.wait();
        FAIL() << "nothing was sent";
    } catch (const Error& error) {
        EXPECT_EQ(error.code(), Errc::timeout);
        EXPECT_EQ(error.ranks(), std::vector<int>{1});
    }
}

TEST(RequestTest, ARequestThatGoesAwayWaits) {
    threads(
        2,
        [](Team& team) {
            std::vector<int> data(5000, team.rank());
            if (team.rank() == 1) {
                std::this_thread::sleep_for(20ms);
            }
            {
                const Request request = team.ibroadcast(std::span(data));
            }
            EXPECT_EQ(std::count(data.begin(), data.end(), 0), 5000);
        },
        small_plans());
}

TEST(RequestTest, AnExceptionBreaksTheTeamInsteadOfWaiting) {
    EXPECT_THROW(threads(
                     2,
                     [](Team& team) {
                         const Request request = team.ibarrier();
                         if (team.rank() == 1) {
                             try {
                                 team.barrier();
                                 ADD_FAILURE() << "rank 0 has thrown";
                             } catch (const Error& error) {
                                 EXPECT_EQ(error.code(), Errc::team_broken) << error.what();
                             }
                         } else {
                             throw std::domain_error("no more");
                         }
                     },
                     small_plans()),
                 std::domain_error);
}

TEST(RequestTest, TheCauseIsRethrownThoughItComesAfterItsConsequences) {
    std::atomic<bool> other_has_left = false;
    struct Late { // Holds an exception up that has broken the team already.
        ~Late() {
            other_has_left.wait(false);
            std::this_thread::sleep_for(50ms); // It is told of from its thread's first frame.
        }
        std::atomic<bool>& other_has_left;
    };
    struct Leaving {
        ~Leaving() {
            other_has_left = true;
            other_has_left.notify_all();
        }
        std::atomic<bool>& other_has_left;
    };
    EXPECT_THROW(threads(
                     2,
                     [&](Team& team) {
                         if (team.rank() == 0) {
                             const Late late(other_has_left);
                             int value = 0;
                             const Request request = team.irecv(output(value), 1); // Never sent.
                             throw std::domain_error("no more");
                         }
                         const Leaving leaving(other_has_left);
                         team.barrier();
                     },
                     small_plans()),
                 std::domain_error);
}

TEST(RequestTest, RequestsOutliveTheirTeam) {
    AllRanks ranks(2);
    int value[2] = {5, 6};
    Request send = ranks.handles[0].isend(input(value[0]), 1);
    Request receive = ranks.handles[1].irecv(output(value[1]), 0);
    Request persistent = ranks.handles[1].barrier_init();
    ranks.handles.clear();
    send.wait();
    receive.wait();
    EXPECT_EQ(value[1], 5);
    EXPECT_THROW(persistent.start(), Error);
}

TEST(RequestTest, MemoryStaysAsItIs) {
    AllRanks ranks(2);
    int in = 3;
    int out[2] = {};
    const auto some = [&](int rounds) {
        for (int round = 0; round < rounds; ++round) {
            Request a = ranks.handles[0].iallreduce(input(in), output(out[0]));
            Request b = ranks.handles[1].iallreduce(input(in), output(out[1]));
            Request c = ranks.handles[0].isend(input(in), 1);
            Request d = ranks.handles[1].irecv(output(out[0]), 0);
            Request e = ranks.handles[0].barrier_init(); // In the same lane each time.
            Request f = ranks.handles[1].barrier_init();
            e.start();
            f.start();
            d.wait();
            a.wait();
        }
    };
    some(100);
    const std::size_t before = mallinfo2().uordblks;
    some(5000);
    EXPECT_EQ(mallinfo2().uordblks, before);
}

} // namespace
} // namespace corymb

// SPDX-License-Identifier: Apache-2.0
// Teams: joining, errors, deadlines, splitting, waiting policies.
#include "limits.hpp"
#include "sample_plans.hpp"

#include <corymb/team.hpp>
#include <corymb/usable_cpus.hpp>

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <functional>
#include <mutex>
#include <sched.h>
#include <set>
#include <span>
#include <stdexcept>
#include <thread>
#include <vector>

namespace corymb {
namespace {

using namespace std::chrono_literals;
using namespace team_test;

TeamOptions small_plans(std::chrono::nanoseconds deadline = test_limit()) {
    TeamOptions options;
    options.deadline = deadline;
    options.plans = [](const PlanNeed& need) {
        switch (need.op) {
        case Collective::broadcast:
            return star_broadcast(need.size, need.root, need.bytes, Mechanism::line);
        case Collective::reduce: return chain_reduce(need.size, need.bytes, Mechanism::line);
        default: return dissemination(need.size);
        }
    };
    return options;
}

TEST(TeamTest, ThreadsGetDistinctRanks) {
    std::mutex mutex;
    std::set<Rank> ranks;
    threads(
        4,
        [&](Team& team) {
            EXPECT_EQ(team.size(), 4);
            const std::lock_guard lock(mutex);
            ranks.insert(team.rank());
        },
        small_plans());
    EXPECT_EQ(ranks, (std::set<Rank>{0, 1, 2, 3}));
}

TEST(TeamTest, RefusesWrongArguments) {
    EXPECT_THROW(ThreadTeam(0), Error);
    EXPECT_THROW(ThreadTeam(-3), Error);
    TeamOptions options = small_plans();
    options.cpus = {0, 1, 2};
    EXPECT_THROW(ThreadTeam(2, options), Error);
    ThreadTeam team(2, small_plans());
    EXPECT_THROW((void)team.join(2), Error);
    EXPECT_THROW((void)team.join(-1), Error);
    const Team first = team.join(0);
    EXPECT_THROW((void)team.join(0), Error) << "a rank is taken once";
    TeamOptions negative = small_plans(-1s);
    EXPECT_THROW(ThreadTeam(2, negative), Error);
}

TEST(TeamTest, RootOutOfRangeIsRefusedBeforeAnythingIsSent) {
    threads(
        2,
        [](Team& team) {
            int value = 1;
            EXPECT_THROW((void)team.broadcast(value, 2), Error);
            EXPECT_THROW((void)team.broadcast(value, -1), Error);
            EXPECT_EQ(team.broadcast(team.rank() + 5, 1), 6);
        },
        small_plans());
}

TEST(TeamTest, RefusesAPlanThatIsWrong) {
    TeamOptions options = small_plans();
    options.plans = [](const PlanNeed& need) {
        Plan plan = dissemination(need.size);
        plan.steps[1].pop_back();
        return plan;
    };
    try {
        threads(2, [](Team& team) { team.barrier(); }, options);
        FAIL() << "the plan ran";
    } catch (const Error& error) {
        EXPECT_TRUE(error.code() == Errc::invalid_plan) << error.what();
    }
}

/// Barriers that a team of four wanted plans for; the ranks call what `life` calls.
std::vector<PlanNeed> barriers_wanted(TeamOptions options, const std::function<void(Team&)>& life) {
    std::mutex mutex;
    std::vector<PlanNeed> wanted;
    options.plans = [&](const PlanNeed& need) {
        if (need.op == Collective::broadcast) {
            return star_broadcast(need.size, need.root, need.bytes, Mechanism::cells);
        }
        const std::lock_guard lock(mutex);
        wanted.push_back(need);
        return dissemination(need.size);
    };
    threads(4, life, options);
    return wanted;
}

void call_with_roots(Team& team) {
    team.barrier();
    static_cast<void>(team.broadcast(1, 2));
    team.barrier(); // Rank 2 first.
    team.barrier();
    static_cast<void>(team.broadcast(1, 0));
    team.barrier(); // Rank 0 first.
    static_cast<void>(team.broadcast(1, 2));
    team.barrier();
    std::vector<std::byte> data(1 << 20);
    team.broadcast(std::span(data), 1); // Too long for that to matter.
    team.barrier();
}

TEST(TeamTest, RanksThatShareACpuWantTheRootOfABroadcastToLeaveTheBarrierFirst) {
    TeamOptions options;
    options.cpus.assign(4, usable_cpus().allowed.front());
    const std::vector<PlanNeed> wanted = barriers_wanted(options, call_with_roots);
    ASSERT_EQ(wanted.size(), 3U) << "each is asked for once";
    EXPECT_FALSE(wanted[0].root_first);
    EXPECT_TRUE(wanted[1].root_first);
    EXPECT_EQ(wanted[1].root, 2);
    EXPECT_TRUE(wanted[2].root_first);
    EXPECT_EQ(wanted[2].root, 0);
}

TEST(TeamTest, ABarrierBehindARequestWithARootEnds) {
    TeamOptions options = small_plans();
    options.cpus.assign(2, usable_cpus().allowed.front());
    ThreadTeam both(2, options);
    Team root = both.join(0);
    Team other = both.join(1);
    int sent = 5;
    int received = 0;
    Request send = root.ibroadcast(std::span(&sent, 1), 0);
    Request receive = other.ibroadcast(std::span(&received, 1), 0);
    receive.wait();
    std::jthread late([&] {
        send.wait();
        root.barrier();
    });
    other.barrier();
    EXPECT_EQ(received, 5);
}

TEST(TeamTest, RefusesAPlanForAnotherRoot) {
    TeamOptions options = small_plans();
    options.plans = [](const PlanNeed& need) {
        return star_broadcast(need.size, 0, need.bytes, Mechanism::cells);
    };
    threads(
        2,
        [](Team& team) {
            std::vector<int> data(100, team.rank());
            team.broadcast(std::span(data), 0);
            try {
                team.broadcast(std::span(data), 1);
                ADD_FAILURE() << "the plan ran";
            } catch (const Error& error) {
                EXPECT_EQ(error.code(), Errc::invalid_plan);
                EXPECT_NE(std::string(error.what()).find("root"), std::string::npos);
            }
        },
        options);
}

/// Rank 1 is late, rank 0 waits for it, and rank 2, which is through with that, meets the deadline
/// first, in a barrier that neither of them has begun.
void expect_only_the_late_one_is_named(const std::function<void(Team&)>& reduce) {
    std::atomic<int> told{0};
    ThreadTeam thread_team(3, small_plans(scaled(1s)));
    const auto life = [&](Rank rank) {
        Team team = thread_team.join(rank);
        team.barrier();
        if (rank == 1) {
            while (told.load() < 2) {
                std::this_thread::yield();
            }
            return;
        }
        std::this_thread::sleep_for(rank == 0 ? scaled(300ms) : 0ms);
        try {
            reduce(team);
            team.barrier();
            ADD_FAILURE() << "rank 1 never came";
        } catch (const Error& error) {
            EXPECT_EQ(error.ranks(), std::vector<int>{1}) << error.what();
        }
        ++told;
    };
    std::vector<std::jthread> crew;
    for (Rank rank = 0; rank < 3; ++rank) {
        crew.emplace_back(life, rank);
    }
}

TEST(TeamTest, ARankThatWaitsForTheLateOneIsNotBlamed) {
    const std::vector<int> in(3, 1);
    expect_only_the_late_one_is_named([&](Team& team) {
        std::vector<int> out(3);
        team.reduce(std::span<const int>(in), std::span(out));
    });
    expect_only_the_late_one_is_named([&](Team& team) {
        std::vector<int> out(3);
        team.ireduce(std::span<const int>(in), std::span(out)).wait();
    });
    expect_only_the_late_one_is_named([&](Team& team) {
        std::vector<int> out(3);
        Request request = team.reduce_init(std::span<const int>(in), std::span(out));
        request.start();
        request.wait();
    });
}

TEST(TeamTest, ARankThatNeverArrivesIsNamedToEverybody) {
    std::atomic<int> named{0};
    ThreadTeam thread_team(4, small_plans(200ms));
    const auto life = [&](Rank rank) {
        Team team = thread_team.join(rank);
        team.barrier();
        if (rank == 2) { // It keeps its handle and calls nothing.
            while (named < 3) {
                std::this_thread::sleep_for(1ms);
            }
            return;
        }
        try {
            team.barrier();
        } catch (const Error& error) {
            named += error.code() == Errc::timeout && error.ranks() == std::vector<int>{2} &&
                     std::string(error.what()).find("rank 2 did not arrive") != std::string::npos;
        }
        EXPECT_THROW(team.barrier(), Error) << "the team stays broken";
    };
    {
        std::vector<std::jthread> crew;
        for (Rank rank = 0; rank < 4; ++rank) {
            crew.emplace_back(life, rank);
        }
    }
    EXPECT_EQ(named, 3);
}

TEST(TeamTest, ALateRankLearnsThatTheTeamIsBroken) {
    ThreadTeam thread_team(2, small_plans(50ms));
    std::jthread punctual([&] {
        Team team = thread_team.join(0);
        EXPECT_THROW(team.barrier(), Error);
    });
    punctual.join();
    Team late = thread_team.join(1);
    try {
        late.barrier();
        FAIL() << "the barrier of a broken team succeeded";
    } catch (const Error& error) {
        EXPECT_EQ(error.code(), Errc::team_broken);
        EXPECT_EQ(error.ranks(), std::vector<int>{1});
    }
}

TEST(TeamTest, AnExceptionOfOneRankEndsTheOthersAndIsRethrown) {
    std::atomic<int> broken{0};
    EXPECT_THROW(threads(
                     3,
                     [&](Team& team) {
                         if (team.rank() == 1) {
                             throw std::domain_error("no more");
                         }
                         try {
                             team.barrier();
                         } catch (const Error& error) {
                             broken += error.code() == Errc::team_broken &&
                                       error.ranks() == std::vector<int>{1};
                             throw;
                         }
                     },
                     small_plans()),
                 std::domain_error);
    EXPECT_EQ(broken, 2);
}

TEST(TeamTest, ADeadlineMayBeTheLongestThereIs) {
    threads(
        2,
        [](Team& team) {
            if (team.rank() == 1) { // The other one climbs the whole ladder.
                std::this_thread::sleep_for(std::chrono::milliseconds(30));
            }
            EXPECT_NO_THROW(team.barrier());
        },
        small_plans(std::chrono::nanoseconds::max()));
}

TEST(TeamTest, EveryWaitPolicyGetsThrough) {
    for (const auto policy :
         {WaitPolicy::ladder, WaitPolicy::spin, WaitPolicy::yield, WaitPolicy::park}) {
        TeamOptions options = small_plans();
        options.wait = policy;
        std::atomic<int> sum{0};
        threads(
            2,
            [&](Team& team) {
                for (int i = 0; i < 200; ++i) {
                    team.barrier();
                    sum += team.broadcast(team.rank() + i, i % 2) - i;
                }
            },
            options);
        EXPECT_EQ(sum, 200) << "policy " << static_cast<int>(policy);
    }
}

TEST(TeamTest, SplitMakesTeamsByColorAndOrdersThemByKey) {
    threads(
        6,
        [](Team& team) {
            for (int round = 0; round < 10; ++round) {
                Team part = team.split(team.rank() % 2, -team.rank());
                ASSERT_EQ(part.size(), 3);
                EXPECT_EQ(part.rank(), (5 - team.rank()) / 2);
                part.barrier();
                EXPECT_EQ(part.broadcast(team.rank(), 0), 4 + team.rank() % 2);
            }
        },
        small_plans());
}

TEST(TeamTest, ANegativeColorStaysOutside) {
    threads(
        3,
        [](Team& team) {
            Team part = team.split(team.rank() == 1 ? -1 : 7);
            EXPECT_EQ(part.size(), team.rank() == 1 ? 0 : 2);
            if (part.size() > 0) {
                part.barrier();
            }
        },
        small_plans());
}

TEST(TeamTest, SeveralTeamsWorkAtOnce) {
    threads(
        4,
        [](Team& team) {
            Team row = team.split(team.rank() / 2);
            Team column = team.split(team.rank() % 2);
            for (int i = 0; i < 100; ++i) {
                row.barrier();
                EXPECT_EQ(column.broadcast(team.rank(), 1), team.rank() % 2 + 2);
                team.barrier();
            }
        },
        small_plans());
}

TEST(TeamTest, AffinityOfTheCallerComesBack) {
    cpu_set_t before;
    ASSERT_EQ(sched_getaffinity(0, sizeof before, &before), 0);
    TeamOptions options = small_plans();
    options.pin = true;
    threads(2, [](Team& team) { team.barrier(); }, options);
    cpu_set_t after;
    ASSERT_EQ(sched_getaffinity(0, sizeof after, &after), 0);
    EXPECT_TRUE(CPU_EQUAL(&before, &after));
}

} // namespace
} // namespace corymb

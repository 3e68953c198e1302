// SPDX-License-Identifier: Apache-2.0
// Limits of single calls: a deadline and a stop token.
#include "limits.hpp"
#include "sample_plans.hpp"

#include <corymb/error.hpp>
#include <corymb/team.hpp>

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <functional>
#include <span>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

namespace corymb {
namespace {

using namespace std::chrono_literals;

/// What `action` throws; fails the test when it throws nothing.
template <class Action>
Error error_of(const Action& action) {
    try {
        action();
    } catch (const Error& error) {
        return error;
    }
    ADD_FAILURE() << "nothing was thrown";
    return Error(Errc::io, "");
}

/// Runs `first` as rank 0 of two. Rank 1 calls nothing before that has ended, and then a barrier.
template <class First>
Error other_after(const First& first) {
    std::atomic<bool> is_over{false};
    Error of_other(Errc::io, "");
    threads(2, [&](Team& team) {
        if (team.rank() == 0) {
            first(team);
            is_over = true;
            return;
        }
        while (!is_over) {
            std::this_thread::sleep_for(1ms);
        }
        of_other = error_of([&] { team.barrier(); });
    });
    return of_other;
}

TEST(LimitsTest, ADeadlineOfOneCallIsNotTheTeams) {
    const Error other = other_after([](Team& team) {
        const Error error =
            error_of([&] { team.limited({.deadline = 50ms}, [&] { team.barrier(); }); });
        EXPECT_EQ(error.code(), Errc::timeout);
        EXPECT_EQ(error.ranks(), std::vector<int>{1});
        EXPECT_NE(std::string(error.what()).find("within 0.05 s"), std::string::npos)
            << error.what();
    });
    EXPECT_EQ(other.code(), Errc::team_broken);
}

TEST(LimitsTest, ADeadlineHoldsForRequestsAndMessages) {
    other_after([](Team& team) {
        int value = 0;
        Request request = team.irecv(std::span(&value, 1), 1);
        const Error error =
            error_of([&] { team.limited({.deadline = 50ms}, [&] { request.wait(); }); });
        EXPECT_EQ(error.code(), Errc::timeout);
        EXPECT_NE(std::string(error.what()).find("within 0.05 s"), std::string::npos)
            << error.what();
    });
    other_after([](Team& team) {
        team.set_limits({.deadline = 50ms});
        Request request = team.ibarrier();
        const Error error = error_of([&] {
            while (!request.test()) {
            }
        });
        EXPECT_EQ(error.code(), Errc::timeout);
    });
}

TEST(LimitsTest, CallsThatEndInTimeGiveTheirResultAndTheLimitsGo) {
    threads(3, [](Team& team) {
        const std::stop_source source;
        EXPECT_EQ(team.limited({.deadline = 1min, .stop = source.get_token()},
                               [&] { return team.allreduce(team.rank()); }),
                  3);
        EXPECT_EQ(team.limits().deadline, 0ns);
        EXPECT_FALSE(team.limits().stop.stop_possible());
        team.limited({.deadline = 2min}, [&] {
            team.limited({.deadline = 1min}, [&] { EXPECT_EQ(team.limits().deadline, 1min); });
            EXPECT_EQ(team.limits().deadline, 2min);
        });
        team.barrier();
    });
}

TEST(LimitsTest, AStopEndsTheCallOfARankThatSleeps) {
    std::stop_source source;
    std::jthread other_thread([&] {
        std::this_thread::sleep_for(100ms);
        source.request_stop();
    });
    const Error other = other_after([&](Team& team) {
        const Error error =
            error_of([&] { team.limited({.stop = source.get_token()}, [&] { team.barrier(); }); });
        EXPECT_EQ(error.code(), Errc::interrupted);
        EXPECT_EQ(error.ranks(), std::vector<int>{0});
        EXPECT_NE(std::string(error.what()).find("rank 0 was told to stop"), std::string::npos)
            << error.what();
    });
    EXPECT_EQ(other.ranks(), std::vector<int>{0});
}

TEST(LimitsTest, AStopThatCameBeforeEndsTheCallAtOnce) {
    std::stop_source source;
    source.request_stop();
    other_after([&](Team& team) {
        const Error error = error_of(
            [&] { team.limited({.stop = source.get_token()}, [&] { return team.allreduce(1); }); });
        EXPECT_EQ(error.code(), Errc::interrupted);
    });
}

TEST(LimitsTest, AStopAfterTheLimitsHaveGoneEndsNothing) {
    std::stop_source source;
    threads(2, [&](Team& team) {
        team.limited({.stop = source.get_token()}, [&] { team.barrier(); });
        team.barrier();
        source.request_stop();
        team.barrier();
    });
}

TEST(LimitsTest, AWaitForTheRankThatPlansHasTheDeadlineOfTheCall) {
    for (const bool blocks : {true, false}) {
        std::atomic<bool> is_planning{false};
        std::atomic<bool> is_over{false};
        TeamOptions options;
        options.plans = [&](const PlanNeed& need) {
            is_planning = true;
            const auto end = std::chrono::steady_clock::now() + test_limit();
            while (!is_over && std::chrono::steady_clock::now() < end) {
                std::this_thread::sleep_for(1ms);
            }
            return team_test::dissemination(need.size);
        };
        const auto call = [&](Team& team) {
            if (blocks) {
                team.barrier();
            } else {
                team.ibarrier().wait();
            }
        };
        Error of_planner(Errc::io, "");
        Error of_other(Errc::io, "");
        threads(
            2,
            [&](Team& team) {
                if (team.rank() == 0) {
                    of_planner = error_of([&] { call(team); });
                    return;
                }
                while (!is_planning) {
                    std::this_thread::sleep_for(1ms);
                }
                of_other = error_of([&] { team.limited({.deadline = 50ms}, [&] { call(team); }); });
                is_over = true;
            },
            options);
        EXPECT_EQ(of_other.code(), Errc::timeout);
        EXPECT_EQ(of_other.ranks(), std::vector<int>{0});
        EXPECT_NE(std::string(of_other.what()).find("did not finish the plan within 0.05 s"),
                  std::string::npos)
            << of_other.what();
        EXPECT_EQ(of_planner.code(), Errc::team_broken);
        EXPECT_EQ(of_planner.ranks(), std::vector<int>{0});
    }
}

/// Rank 0 makes a call whose plan takes a while; rank 1 does not come. What rank 0 is told.
std::string told_of_late_rank(const std::function<void(Team&)>& call) {
    TeamOptions options;
    options.plans = [](const PlanNeed& need) {
        std::this_thread::sleep_for(20ms);
        return team_test::dissemination(need.size);
    };
    std::atomic<bool> is_over{false};
    std::string told;
    threads(
        2,
        [&](Team& team) {
            if (team.rank() == 1) {
                while (!is_over) {
                    std::this_thread::sleep_for(1ms);
                }
                error_of([&] { team.barrier(); });
                return;
            }
            const Error error =
                error_of([&] { team.limited({.deadline = 50ms}, [&] { call(team); }); });
            EXPECT_EQ(error.code(), Errc::timeout);
            told = error.what();
            is_over = true;
        },
        options);
    return told;
}

TEST(LimitsTest, TheTimeOfAPlanIsAPartOfItsCall) {
    const std::function<void(Team&)> calls[] = {
        [](Team& team) { team.barrier(); },
        [](Team& team) { team.ibarrier().wait(); },
        [](Team& team) {
            Request request = team.ibarrier();
            while (!request.test()) {
            }
        },
    };
    for (const auto& call : calls) {
        const std::string told = told_of_late_rank(call);
        EXPECT_NE(told.find("; the plan took "), std::string::npos) << told;
    }
}

TEST(LimitsTest, ThePlanOfAPersistentRequestIsNoPartOfItsStart) {
    const std::string told = told_of_late_rank([](Team& team) {
        Request request = team.barrier_init();
        request.start();
        request.wait();
    });
    EXPECT_EQ(told.find("the plan took"), std::string::npos) << told;
}

TEST(LimitsTest, ANegativeDeadlineIsRefused) {
    threads(1, [](Team& team) {
        const Error error = error_of([&] { team.set_limits({.deadline = -1ns}); });
        EXPECT_EQ(error.code(), Errc::invalid_argument);
    });
}

} // namespace
} // namespace corymb

// SPDX-License-Identifier: Apache-2.0
// A rank that gives up its handle is known to the others at once, and when all have left, those
// whose calls differed are told.
#include "limits.hpp"

#include <corymb/packed.hpp>
#include <corymb/team.hpp>

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <functional>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace corymb {
namespace {

using namespace std::chrono_literals;

TeamOptions with_deadline() {
    TeamOptions options;
    options.deadline = test_limit();
    return options;
}

/// What rank 0 is told in `call` while rank 1 has this life.
Error told(const std::function<void(Team&)>& call, const std::function<void(Team)>& life) {
    ThreadTeam made(2, with_deadline());
    std::optional<Error> error;
    std::atomic<bool> is_told{false};
    std::jthread other([&] {
        try {
            life(made.join(1));
        } catch (const std::runtime_error&) { // The thread lives on.
        }
        while (!is_told) {
            std::this_thread::sleep_for(1ms);
        }
    });
    Team team = made.join(0);
    try {
        call(team);
    } catch (const Error& caught) {
        error = caught;
    }
    is_told = true;
    return error.value_or(Error(Errc::invalid_argument, "no error"));
}

void expect_broken_by_rank_1(const Error& error) {
    EXPECT_EQ(error.code(), Errc::team_broken) << error.what();
    EXPECT_EQ(error.ranks(), std::vector<int>{1}) << error.what();
    EXPECT_NE(std::string(error.what()).find("rank 1"), std::string::npos) << error.what();
}

const std::vector<std::function<void(Team&)>>& calls() {
    static const std::vector<std::function<void(Team&)>> all{
        [](Team& team) { team.barrier(); },
        [](Team& team) { static_cast<void>(team.allreduce(1)); },
        [](Team& team) { team.ibarrier().wait(); },
        [](Team& team) {
            Request request = team.ibarrier();
            while (!request.test()) {
            }
        },
        [](Team& team) {
            int data = 0;
            team.recv(std::span(&data, 1), 1);
        },
        [](Team& team) {
            const std::vector<int> data(1'000'000);
            team.send(std::span(data), 1);
        },
    };
    return all;
}

TEST(LeavingTest, AnExceptionTakesTheHandleAway) {
    for (const auto& call : calls()) {
        expect_broken_by_rank_1(told(call, [](Team) { throw std::runtime_error("full"); }));
    }
}

TEST(LeavingTest, TheHandleGoesWhileTheOtherWaits) {
    for (const auto& call : calls()) {
        expect_broken_by_rank_1(told(call, [](Team) { std::this_thread::sleep_for(50ms); }));
    }
}

TEST(LeavingTest, TheHandleHasGoneBefore) {
    for (const auto& call : calls()) {
        std::atomic<bool> is_gone{false};
        expect_broken_by_rank_1(told(
            [&](Team& team) {
                while (!is_gone) {
                    std::this_thread::sleep_for(1ms);
                }
                call(team);
            },
            [&](Team team) {
                team = Team();
                is_gone = true;
            }));
    }
}

TEST(LeavingTest, AnOrdinaryEndIsQuiet) {
    for (int round = 0; round < 200; ++round) {
        threads(3, [](Team& team) {
            int sum = team.allreduce(1);
            Request request = team.ibroadcast(std::span(&sum, 1), 2);
            request.wait();
            Team part = team.split(team.rank() % 2);
            part.barrier();
            EXPECT_NO_THROW(part.leave());
        });
    }
}

TEST(LeavingTest, MessagesOfOneRankMoreAreNoDifference) {
    threads(3, [](Team& team) {
        team.barrier();
        if (team.rank() == 0) {
            team.send(std::span<const int>(std::vector{1}), 1);
        } else if (team.rank() == 1) {
            int data = 0;
            team.recv(std::span(&data, 1), 0);
        }
    });
}

/// The last of those that leave.
void expect_mismatch_at_the_end(int ranks, const std::function<void(Team&)>& life) {
    try {
        threads(ranks, life, with_deadline());
        ADD_FAILURE() << "no error";
    } catch (const Error& error) {
        EXPECT_EQ(error.code(), Errc::mismatch) << error.what();
    }
}

TEST(LeavingTest, EachWasTheRoot) {
    expect_mismatch_at_the_end(
        3, [](Team& team) { static_cast<void>(team.broadcast(team.rank(), team.rank())); });
    expect_mismatch_at_the_end(2, [](Team& team) {
        int data = 0;
        team.ibroadcast(std::span(&data, 1), team.rank()).wait();
    });
    expect_mismatch_at_the_end(2, [](Team& team) {
        int data = 0;
        Request request = team.broadcast_init(std::span(&data, 1), team.rank());
        request.start();
        request.wait();
    });
}

TEST(LeavingTest, OneRankHadACallMore) {
    expect_mismatch_at_the_end(2, [](Team& team) {
        team.barrier();
        if (team.rank() == 0) {
            static_cast<void>(team.broadcast(1, 0));
        }
    });
}

TEST(LeavingTest, APackThatThrowsEndsTheCallForAll) {
    const Packed<int> bad{3, [](std::span<int>) { throw std::runtime_error("no data"); },
                          [](std::span<const int>) {
                          }};
    const auto call = [](Team& team) {
        std::vector<int> data(3);
        team.broadcast(std::span(data), 1);
    };
    expect_broken_by_rank_1(told(call, [&](Team team) {
        try {
            team.broadcast(bad, 1);
        } catch (const std::runtime_error&) {
            std::this_thread::sleep_for(200ms); // The handle is still there.
        }
    }));
    expect_broken_by_rank_1(told(call, [&](Team team) {
        try {
            static_cast<void>(team.ibroadcast(bad, 1));
        } catch (const std::runtime_error&) {
            std::this_thread::sleep_for(200ms);
        }
    }));
    expect_broken_by_rank_1(told(
        [](Team& team) {
            std::vector<int> data(3);
            Request request = team.broadcast_init(std::span(data), 1);
            request.start();
            request.wait();
        },
        [&](Team team) {
            Request request = team.broadcast_init(bad, 1);
            try {
                request.start();
            } catch (const std::runtime_error&) {
                std::this_thread::sleep_for(200ms);
            }
        }));
}

} // namespace
} // namespace corymb

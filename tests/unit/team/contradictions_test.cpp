// SPDX-License-Identifier: Apache-2.0
// Calls of threads that contradict each other, and threads that only come late.
#include "contradictions.hpp"
#include "limits.hpp"

#include <corymb/team.hpp>

#include <gtest/gtest.h>

#include <chrono>
#include <span>
#include <string>
#include <thread>
#include <vector>

namespace corymb {
namespace {

using namespace std::chrono_literals;
using namespace contradictions;

void expect_all_told(int ranks, const std::vector<Case>& cases) {
    TeamOptions options;
    options.deadline = test_limit();
    threads(
        ranks,
        [&](Team& team) {
            for (const std::string& wrong : failures_of(team, cases)) {
                if (team.rank() == 0) {
                    ADD_FAILURE() << wrong;
                }
            }
        },
        options);
}

TEST(ContradictionsTest, Lengths) {
    expect_all_told(2, lengths(false));
}

TEST(ContradictionsTest, LengthsOfNonblockingCalls) {
    expect_all_told(2, lengths(true));
}

TEST(ContradictionsTest, LengthsAmongThree) {
    expect_all_told(3, lengths(false));
}

TEST(ContradictionsTest, Operations) {
    expect_all_told(2, operations(8));
    expect_all_told(3, operations(100'000));
}

TEST(ContradictionsTest, Roots) {
    expect_all_told(2, roots(1));
    expect_all_told(3, roots(2));
}

TEST(ContradictionsTest, Messages) {
    expect_all_told(2, messages(false));
    expect_all_told(2, messages(true));
}

using Act = void (*)(Team&);

/// Rank 0 does one thing, all others another: each is told that they differ.
void expect_mismatch(int ranks, Act one, Act others) {
    TeamOptions options;
    options.deadline = test_limit();
    threads(
        ranks,
        [&](Team& team) {
            try {
                (team.rank() == 0 ? one : others)(team);
                ADD_FAILURE() << "rank " << team.rank() << " has come through";
            } catch (const Error& error) {
                EXPECT_EQ(error.code(), Errc::mismatch) << error.what();
            }
        },
        options);
}

TEST(ContradictionsTest, BlockingCallsAndRequests) {
    const Act requests[] = {
        [](Team& team) { team.ibarrier().wait(); },
        [](Team& team) {
            int sum = 0;
            const int one = 1;
            team.iallreduce(std::span(&one, 1), std::span(&sum, 1)).wait();
        },
        [](Team& team) {
            Request request = team.barrier_init();
            request.start();
            request.wait();
        },
        [](Team& team) {
            int got = 0;
            team.recv(std::span(&got, 1), 1);
        },
        [](Team& team) {
            int got = 0;
            team.irecv(std::span(&got, 1), 1).wait();
        },
    };
    for (const Act request : requests) {
        for (const int ranks : {2, 3}) {
            expect_mismatch(ranks, request, [](Team& team) { team.barrier(); });
            expect_mismatch(ranks, request,
                            [](Team& team) { static_cast<void>(team.allreduce(1)); });
        }
    }
    // The wait of rank 1 for rank 0 alone shows this one.
    expect_mismatch(2, requests[0], [](Team& team) {
        int got = 0;
        team.broadcast(std::span(&got, 1), 0);
    });
}

TEST(ContradictionsTest, RequestsThatCrossBlockingCallsAreNotBlamed) {
    threads(3, [](Team& team) {
        for (int turn = 0; turn < 3; ++turn) {
            if (team.rank() == turn) {
                Request request = team.ibarrier();
                std::this_thread::sleep_for(30ms);
                team.barrier();
                request.wait();
            } else {
                team.barrier();
                std::this_thread::sleep_for(30ms);
                team.ibarrier().wait();
            }
            int value = 7; // A root leaves a short broadcast before others have come.
            if (team.rank() == turn) {
                std::this_thread::sleep_for(30ms);
                team.broadcast(std::span(&value, 1), turn);
                team.ibarrier().wait();
            } else {
                team.ibarrier().wait();
                team.broadcast(std::span(&value, 1), turn);
            }
        }
    });
}

TEST(ContradictionsTest, WhoIsLateIsNotBlamed) {
    threads(3, [](Team& team) {
        for (const Collective op : all_operations) {
            for (const std::size_t bytes : {0UL, 8UL, 100'000UL}) {
                for (const bool nonblocking : {false, true}) {
                    if (team.rank() == static_cast<int>(op) % 3) {
                        std::this_thread::sleep_for(
                            op == Collective::broadcast && bytes == 8 ? 1500ms : 30ms);
                    }
                    perform(team, {op, bytes, 1, false, nonblocking});
                }
            }
        }
    });
}

TEST(ContradictionsTest, WhoSendsAheadIsNotBlamed) {
    threads(2, [](Team& team) {
        int sum = 0;
        for (int i = 0; i < 40; ++i) { // What a channel holds, before the receiver comes.
            if (team.rank() == 1 && i == 0) {
                std::this_thread::sleep_for(1s);
            }
            sum += team.broadcast(i, 0);
            perform(team, {Collective::barrier, 8, 0, true, i % 2 == 1});
        }
        EXPECT_EQ(sum, 780);
    });
}

} // namespace
} // namespace corymb

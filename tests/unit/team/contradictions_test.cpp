// SPDX-License-Identifier: Apache-2.0
// Calls of threads that contradict each other, and threads that only come late.
#include "contradictions.hpp"
#include "limits.hpp"

#include <corymb/team.hpp>

#include <gtest/gtest.h>

#include <chrono>
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

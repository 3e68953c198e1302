// SPDX-License-Identifier: Apache-2.0
// Counts of what a rank has done and whom it has waited for.
#include "limits.hpp"

#include <corymb/team.hpp>

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <functional>
#include <numeric>
#include <span>
#include <thread>
#include <vector>

namespace corymb {
namespace {

using namespace std::chrono_literals;

std::chrono::nanoseconds sum_of(const std::vector<std::chrono::nanoseconds>& times) {
    return std::accumulate(times.begin(), times.end(), 0ns);
}

TEST(TeamStatistics, CountOperationsOfAllForms) {
    threads(2, [](Team& team) {
        const TeamStatistics none = team.statistics();
        EXPECT_EQ(none.operations + none.bytes + none.waits + none.sleeps, 0u);
        EXPECT_EQ(none.waited_for.size(), 2u);
        std::vector<double> in(4), out(4);
        team.allreduce(in, out);
        team.iallreduce(in, out).wait();
        Request kept = team.allreduce_init(in, out);
        for (int start = 0; start < 3; ++start) {
            kept.start();
            kept.wait();
        }
        EXPECT_EQ(team.statistics().operations, 5u);
        EXPECT_EQ(team.statistics().bytes, 5 * 32u);
        team.barrier();
        if (team.rank() == 0) {
            team.send(in, 1);
        } else {
            team.recv(out, 0);
        }
        const TeamStatistics all = team.statistics();
        EXPECT_EQ(all.operations, 7u);
        EXPECT_EQ(all.bytes, 6 * 32u);
        EXPECT_FALSE(all.plans.empty());
        EXPECT_LE(all.sleeps, all.waits);
        EXPECT_LE(sum_of(all.waited_for), all.waited);
    });
}

/// The time of one rank that comes late is the time that the other waits for it.
void expect_late(const std::function<void(Team&)>& meet) {
    std::atomic<bool> is_noticed{false};
    threads(3, [&](Team& team) {
        while (!is_noticed) {
            if (team.rank() == 2) {
                std::this_thread::sleep_for(5ms);
            }
            meet(team);
            const TeamStatistics all = team.statistics();
            EXPECT_EQ(all.waited_for[static_cast<std::size_t>(team.rank())], 0ns);
            if (team.rank() == 0 && all.waited_for[2] >= 20ms) {
                is_noticed = true;
            }
            team.barrier(); // All see it, or none.
        }
    });
}

TEST(TeamStatistics, SayWhoIsLate) {
    // The message of rank 2 goes to rank 0 alone.
    const auto message = [](Team& team) {
        int value = 0;
        if (team.rank() == 2) {
            team.send(std::span(&value, 1), 0);
        } else if (team.rank() == 0) {
            team.recv(std::span(&value, 1), 2);
        }
    };
    expect_late(message);
    const auto request = [](Team& team) {
        int value = 0;
        if (team.rank() == 2) {
            team.isend(std::span(&value, 1), 0).wait();
        } else if (team.rank() == 0) {
            int never = 0;
            Request other = team.irecv(std::span(&never, 1), 1); // Two are under way.
            team.irecv(std::span(&value, 1), 2).wait();
            static_cast<void>(other.cancel());
        }
    };
    expect_late(request);
}

} // namespace
} // namespace corymb

// SPDX-License-Identifier: Apache-2.0
// Giving up: a rank that is interrupted while it waits, and one that abandons its team.
#include "limits.hpp"

#include <corymb/hooks.hpp>
#include <corymb/team.hpp>

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <string>
#include <thread>

namespace corymb {
namespace {

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

TEST(InterruptTest, EndsABlockedOperationAndTheTeam) {
    TeamOptions options;
    std::atomic<bool> is_late{false};
    options.interrupted = [&] {
        is_late.store(true, std::memory_order_relaxed);
        return true;
    };
    threads(
        2,
        [&](Team& team) {
            if (team.rank() == 0) {
                const Error error = error_of([&] { team.barrier(); });
                EXPECT_EQ(error.code(), Errc::interrupted);
                EXPECT_EQ(error.ranks(), std::vector<int>{0});
                EXPECT_EQ(error_of([&] { team.barrier(); }).code(), Errc::team_broken);
                return;
            }
            while (!is_late.load(std::memory_order_relaxed)) {
                std::this_thread::yield(); // Until the other has been asked.
            }
            const Error error = error_of([&] {
                for (;;) { // The first may begin before the team is broken, none ends.
                    team.barrier();
                }
            });
            EXPECT_EQ(error.ranks(), std::vector<int>{0});
        },
        options);
}

TEST(InterruptTest, AsksAsOftenAsToldInALongWait) {
    TeamOptions options;
    // Without it 64 questions would take too long, and the other rank would not come in time.
    options.interrupted_every = std::chrono::milliseconds(1);
    options.deadline = 2 * test_limit();
    std::atomic<int> asked{0};
    options.interrupted = [&] {
        asked.fetch_add(1, std::memory_order_relaxed);
        return false;
    };
    threads(
        2,
        [&](Team& team) {
            const auto end = std::chrono::steady_clock::now() + test_limit();
            while (team.rank() == 1 && asked.load(std::memory_order_relaxed) < 64 &&
                   std::chrono::steady_clock::now() < end) {
                std::this_thread::sleep_for(std::chrono::milliseconds(1));
            }
            team.barrier();
        },
        options);
    EXPECT_GE(asked.load(std::memory_order_relaxed), 64);
}

TEST(InterruptTest, AsksBetweenAllLooksWhileThatIsUrgent) {
    TeamOptions options;
    // Without urgency 64 questions would take too long, and the other rank would not come in time.
    options.interrupted_every = test_limit() / 20;
    options.deadline = 2 * test_limit();
    std::atomic<int> asked{0};
    options.interrupted = [&] {
        asked.fetch_add(1, std::memory_order_relaxed);
        return false;
    };
    set_hooks_urgent(true);
    threads(
        2,
        [&](Team& team) {
            const auto end = std::chrono::steady_clock::now() + test_limit();
            while (team.rank() == 1 && asked.load(std::memory_order_relaxed) < 64 &&
                   std::chrono::steady_clock::now() < end) {
                std::this_thread::sleep_for(std::chrono::milliseconds(1));
            }
            team.barrier();
        },
        options);
    set_hooks_urgent(false);
    EXPECT_GE(asked.load(std::memory_order_relaxed), 64);
}

TEST(InterruptTest, EndsAWaitForARequest) {
    TeamOptions options;
    std::atomic<bool> is_over{false};
    options.interrupted = [&] {
        return !is_over.load(std::memory_order_relaxed);
    };
    threads(
        2,
        [&](Team& team) {
            if (team.rank() == 0) {
                Request request = team.ibarrier();
                EXPECT_EQ(error_of([&] { request.wait(); }).code(), Errc::interrupted);
                is_over.store(true, std::memory_order_relaxed);
                is_over.notify_all();
            } else {
                is_over.wait(false, std::memory_order_relaxed);
            }
        },
        options);
}

TEST(InterruptTest, AnAbandonedTeamSaysWhoAndWhy) {
    threads(3, [](Team& team) {
        if (team.rank() == 1) {
            team.abandon("out of paper");
            return;
        }
        const Error error = error_of([&] { team.barrier(); });
        EXPECT_EQ(error.code(), Errc::team_broken);
        EXPECT_EQ(error.ranks(), std::vector<int>{1});
        EXPECT_NE(std::string(error.what()).find("out of paper"), std::string::npos);
    });
}

} // namespace
} // namespace corymb

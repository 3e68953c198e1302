// SPDX-License-Identifier: Apache-2.0
// Stops and times, which end waits.
#include "remote/refusal.hpp"

#include <corymb/scheduler.hpp>
#include <corymb/this_task.hpp>

#include <chrono>
#include <gtest/gtest.h>
#include <stop_token>
#include <thread>
#include <vector>

namespace corymb {
namespace {

using namespace std::chrono_literals;

TEST(Stop, EndsWaitsFromAnotherThread) {
    std::stop_source source;
    auto main = []() -> Task<> {
        co_await this_task::sleep_for(1h);
    };
    Scheduler scheduler;
    std::jthread other([&] {
        std::this_thread::sleep_for(2ms);
        source.request_stop();
    });
    EXPECT_EQ(refusal([&] { scheduler.run(main(), source.get_token()); }), Errc::interrupted);
}

TEST(Stop, EndsTheWaitForATaskAndNotTheTask) {
    auto main = []() -> Task<int> {
        std::stop_source source;
        Spawned<int> slow = spawn([]() -> Task<int> {
            co_await this_task::sleep_for(2ms);
            co_return 3;
        }());
        auto awaits = [](Spawned<int>& of) -> Task<> {
            co_await of;
        };
        Spawned<void> waits = spawn(awaits(slow), source.get_token());
        co_await this_task::yield();
        source.request_stop();
        try {
            co_await waits;
            ADD_FAILURE() << "the wait goes on";
        } catch (const Error& error) {
            EXPECT_EQ(error.code(), Errc::interrupted);
        }
        co_return co_await slow;
    };
    Scheduler scheduler;
    EXPECT_EQ(scheduler.run(main()), 3);
}

TEST(Stop, IsSeenByTheTask) {
    auto main = [](Scheduler& scheduler) -> Task<bool> {
        const std::stop_token token = this_task::stop_token();
        EXPECT_FALSE(token.stop_requested());
        scheduler.request_stop();
        co_return token.stop_requested();
    };
    Scheduler scheduler;
    EXPECT_TRUE(scheduler.run(main(scheduler)));
    EXPECT_EQ(scheduler.run([]() -> Task<int> {
        co_await this_task::sleep_for(0ns);
        co_return 1;
    }()),
              1)
        << "the next run begins without the stop";
}

TEST(Timers, WakeInTheOrderOfTheirTimes) {
    std::vector<int> order;
    auto body = [](std::vector<int>& into, int after) -> Task<> {
        co_await this_task::sleep_for(after * 1ms);
        into.push_back(after);
    };
    auto main = [&]() -> Task<> {
        for (const int after : {5, 1, 4, 2, 3}) {
            spawn(body(order, after));
        }
        co_return;
    };
    Scheduler scheduler;
    const auto begin = std::chrono::steady_clock::now();
    scheduler.run(main());
    EXPECT_GE(std::chrono::steady_clock::now() - begin, 5ms);
    EXPECT_EQ(order, (std::vector{1, 2, 3, 4, 5}));
}

TEST(Timers, ComeWhileTasksAreBusy) {
    auto main = []() -> Task<> {
        bool is_over = false;
        auto busy = [](bool& over) -> Task<> {
            while (!over) {
                co_await this_task::yield();
            }
        };
        spawn(busy(is_over));
        co_await this_task::sleep_for(1ms);
        is_over = true;
    };
    Scheduler scheduler;
    scheduler.run(main());
}

} // namespace
} // namespace corymb

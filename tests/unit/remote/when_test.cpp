// SPDX-License-Identifier: Apache-2.0
#include "remote/refusal.hpp"

#include <corymb/scheduler.hpp>
#include <corymb/task_channel.hpp>
#include <corymb/task_semaphore.hpp>
#include <corymb/this_task.hpp>
#include <corymb/when.hpp>

#include <chrono>
#include <cstddef>
#include <gtest/gtest.h>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

namespace corymb {
namespace {

using namespace std::chrono_literals;

Task<int> after(std::chrono::nanoseconds time, int value) {
    co_await this_task::sleep_for(time);
    co_return value;
}

Task<int> throws_after(std::chrono::nanoseconds time, std::string text) {
    co_await this_task::sleep_for(time);
    throw std::runtime_error(text);
}

TEST(WhenAll, GivesResultsInTheOrderOfTheTasks) {
    auto main = []() -> Task<std::vector<int>> {
        std::vector<Task<int>> tasks;
        for (int i = 0; i < 4; ++i) {
            tasks.push_back(after((4 - i) * 1ms, i));
        }
        co_return co_await when_all(std::move(tasks));
    };
    Scheduler scheduler;
    EXPECT_EQ(scheduler.run(main()), (std::vector{0, 1, 2, 3}));
    EXPECT_TRUE(scheduler.run(when_all(std::vector<Task<int>>())).empty());
}

TEST(WhenAll, TakesTasksOfSeveralTypes) {
    auto text = []() -> Task<std::string> {
        co_return "text";
    };
    auto nothing = []() -> Task<> {
        co_await this_task::yield();
    };
    Scheduler scheduler;
    const auto [number, word, none] = scheduler.run(when_all(after(1ms, 1), text(), nothing()));
    EXPECT_EQ(number, 1);
    EXPECT_EQ(word, "text");
    static_cast<void>(none);
}

TEST(WhenAll, StopsTheOthersWhenOneThrows) {
    auto main = []() -> Task<> {
        std::vector<Task<int>> tasks;
        tasks.push_back(after(1h, 1));
        tasks.push_back(throws_after(1ms, "thrown"));
        tasks.push_back(after(1h, 2));
        co_await when_all(std::move(tasks));
    };
    Scheduler scheduler;
    try {
        scheduler.run(main());
        FAIL() << "nothing was thrown";
    } catch (const std::runtime_error& error) {
        EXPECT_STREQ(error.what(), "thrown");
    }
}

TEST(WhenAny, GivesTheFirstAndStopsTheOthers) {
    auto main = []() -> Task<std::pair<std::size_t, int>> {
        std::vector<Task<int>> tasks;
        tasks.push_back(after(1h, 1));
        tasks.push_back(after(1ms, 2));
        const FirstOf<int> first = co_await when_any(std::move(tasks));
        co_return std::pair{first.index, first.value};
    };
    Scheduler scheduler;
    EXPECT_EQ(scheduler.run(main()), (std::pair<std::size_t, int>{1, 2}));
}

TEST(WhenAny, ThrowsWhatTheFirstThrows) {
    auto main = []() -> Task<> {
        std::vector<Task<int>> tasks;
        tasks.push_back(after(1h, 1));
        tasks.push_back(throws_after(1ms, "first"));
        co_await when_any(std::move(tasks));
    };
    Scheduler scheduler;
    EXPECT_THROW(scheduler.run(main()), std::runtime_error);
    EXPECT_EQ(refusal([&] { scheduler.run(when_any(std::vector<Task<int>>())); }),
              Errc::invalid_argument);
}

TEST(Within, IsTheTaskOrATimeout) {
    Scheduler scheduler;
    EXPECT_EQ(scheduler.run(within(1h, after(1ms, 8))), 8);
    EXPECT_EQ(refusal([&] { scheduler.run(within(1ms, after(1h, 8))); }), Errc::timeout);
    EXPECT_THROW(scheduler.run(within(1h, throws_after(0ms, "its own"))), std::runtime_error);
    auto nothing = []() -> Task<> {
        co_return;
    };
    scheduler.run(within(1h, nothing()));
}

TEST(Within, AStopOfTheAwaitingTaskIsNoTimeout) {
    auto main = [](Scheduler& scheduler) -> Task<> {
        spawn([](Scheduler& of) -> Task<> {
            co_await this_task::yield();
            of.request_stop();
        }(scheduler));
        co_await within(1h, after(1h, 1));
    };
    Scheduler scheduler;
    EXPECT_EQ(refusal([&] { scheduler.run(main(scheduler)); }), Errc::interrupted);
}

TEST(Semaphore, LetsTasksInByTheirOrder) {
    std::string order;
    auto body = [](TaskSemaphore& semaphore, std::string& into, char name) -> Task<> {
        co_await semaphore.acquire();
        into += name;
        co_await this_task::yield();
        into += name;
        semaphore.release();
    };
    auto main = [&]() -> Task<> {
        TaskSemaphore semaphore(1);
        co_await finish([&] {
            for (const char name : {'a', 'b', 'c'}) {
                spawn(body(semaphore, order, name));
            }
        });
        EXPECT_EQ(semaphore.permits(), 1U);
        EXPECT_TRUE(semaphore.try_acquire());
        EXPECT_FALSE(semaphore.try_acquire());
    };
    Scheduler scheduler;
    scheduler.run(main());
    EXPECT_EQ(order, "aabbcc");
}

TEST(Semaphore, AStopLeavesTheQueue) {
    auto body = [](TaskSemaphore& semaphore) -> Task<> {
        co_await semaphore.acquire();
    };
    auto main = [&]() -> Task<> {
        TaskSemaphore semaphore(0);
        std::stop_source source;
        Spawned<void> stopped = spawn(body(semaphore), source.get_token());
        Spawned<void> other = spawn(body(semaphore));
        co_await this_task::yield();
        source.request_stop();
        try {
            co_await stopped;
            ADD_FAILURE() << "it was not stopped";
        } catch (const Error& error) {
            EXPECT_EQ(error.code(), Errc::interrupted);
        }
        semaphore.release();
        co_await other;
        EXPECT_EQ(semaphore.permits(), 0U);
    };
    Scheduler scheduler;
    scheduler.run(main());
}

TEST(Semaphore, AWaitWithoutEndIsADeadlock) {
    auto main = []() -> Task<> {
        TaskSemaphore semaphore(0);
        co_await semaphore.acquire();
    };
    Scheduler scheduler;
    try {
        scheduler.run(main());
        FAIL() << "it did not wait";
    } catch (const Error& error) {
        EXPECT_EQ(error.code(), Errc::deadlock);
        EXPECT_NE(std::string(error.what()).find("a permit of a semaphore"), std::string::npos)
            << error.what();
    }
    EXPECT_EQ(scheduler.size(), 0U);
}

class ChannelOf : public testing::TestWithParam<std::size_t> {};

TEST_P(ChannelOf, HandsValuesOnInOrder) {
    std::vector<int> got;
    auto send = [](TaskChannel<int>& to) -> Task<> {
        for (int i = 0; i < 10; ++i) {
            co_await to.send(i);
            EXPECT_LE(to.size(), GetParam());
        }
        to.close();
    };
    auto receive = [](TaskChannel<int>& from, std::vector<int>& into) -> Task<> {
        while (const std::optional<int> value = co_await from.receive()) {
            into.push_back(*value);
        }
    };
    auto main = [&](bool receiver_first) -> Task<> {
        TaskChannel<int> channel(GetParam());
        co_await finish([&] {
            if (receiver_first) {
                spawn(receive(channel, got));
            }
            spawn(send(channel));
            if (!receiver_first) {
                spawn(receive(channel, got));
            }
        });
    };
    Scheduler scheduler;
    scheduler.run(main(true));
    scheduler.run(main(false));
    std::vector<int> expected;
    for (int i = 0; i < 20; ++i) {
        expected.push_back(i % 10);
    }
    EXPECT_EQ(got, expected);
}

INSTANTIATE_TEST_SUITE_P(Capacities, ChannelOf, testing::Values(0, 1, 3, 100));

TEST(Channel, TakesValuesThatOnlyMove) {
    auto main = []() -> Task<int> {
        TaskChannel<std::unique_ptr<int>> channel(1);
        co_await channel.send(std::make_unique<int>(4));
        co_return **co_await channel.receive();
    };
    Scheduler scheduler;
    EXPECT_EQ(scheduler.run(main()), 4);
}

TEST(Channel, CloseEndsAllWaits) {
    auto send = [](TaskChannel<int>& to) -> Task<> {
        co_await to.send(1);
    };
    auto main = [&]() -> Task<> {
        TaskChannel<int> channel(0);
        Spawned<void> sender = spawn(send(channel));
        co_await this_task::yield();
        channel.close();
        EXPECT_FALSE((co_await channel.receive()).has_value());
        try {
            co_await sender;
            ADD_FAILURE() << "nobody has received the value";
        } catch (const Error& error) {
            EXPECT_EQ(error.code(), Errc::invalid_argument);
        }
    };
    Scheduler scheduler;
    scheduler.run(main());
}

TEST(Channel, AStopTakesTheValueBack) {
    auto send = [](TaskChannel<int>& to, int value) -> Task<> {
        co_await to.send(value);
    };
    auto main = [&]() -> Task<int> {
        TaskChannel<int> channel(0);
        std::stop_source source;
        Spawned<void> stopped = spawn(send(channel, 1), source.get_token());
        Spawned<void> other = spawn(send(channel, 2));
        co_await this_task::yield();
        source.request_stop();
        co_return (co_await channel.receive()).value();
    };
    Scheduler scheduler;
    EXPECT_EQ(scheduler.run(main()), 2);
}

} // namespace
} // namespace corymb

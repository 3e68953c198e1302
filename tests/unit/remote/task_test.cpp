// SPDX-License-Identifier: Apache-2.0
#include "remote/refusal.hpp"

#include <corymb/finish.hpp>
#include <corymb/scheduler.hpp>
#include <corymb/this_task.hpp>

#include <chrono>
#include <gtest/gtest.h>
#include <memory>
#include <stdexcept>
#include <stop_token>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace corymb {
namespace {

using namespace std::chrono_literals;

Task<int> number(int value) {
    co_return value;
}

Task<int> sum(int from, int to) {
    if (from == to) {
        co_return from;
    }
    const int middle = (from + to) / 2;
    co_return co_await sum(from, middle) + co_await sum(middle + 1, to);
}

TEST(Task, GivesItsResult) {
    Scheduler scheduler;
    EXPECT_EQ(scheduler.run(number(7)), 7);
    EXPECT_EQ(scheduler.run(sum(1, 100)), 5050);
}

TEST(Task, GivesValuesOfAnyKind) {
    Scheduler scheduler;
    auto pointer = [](int value) -> Task<std::unique_ptr<int>> {
        co_return std::make_unique<int>(value);
    };
    EXPECT_EQ(*scheduler.run(pointer(3)), 3);
    int variable = 0;
    auto reference = [](int& to) -> Task<int&> {
        co_return to;
    };
    EXPECT_EQ(&scheduler.run(reference(variable)), &variable);
    auto nothing = [](int& to) -> Task<> {
        to = 5;
        co_return;
    };
    scheduler.run(nothing(variable));
    EXPECT_EQ(variable, 5);
}

TEST(Task, DoesNothingBeforeItIsAwaited) {
    bool has_run = false;
    auto body = [](bool& run) -> Task<> {
        run = true;
        co_return;
    };
    {
        const Task<> unused = body(has_run);
        EXPECT_TRUE(unused.valid());
    }
    EXPECT_FALSE(has_run);
}

TEST(Task, AwaitsAMillionTasksWithoutMoreStack) {
    auto loop = []() -> Task<long> {
        long total = 0;
        for (int i = 0; i < 1'000'000; ++i) {
            total += co_await number(1);
        }
        co_return total;
    };
    Scheduler scheduler;
    EXPECT_EQ(scheduler.run(loop()), 1'000'000);
}

Task<int> failing(std::string text) {
    co_await this_task::yield();
    throw std::runtime_error(text);
}

TEST(Task, ThrowsToWhoeverAwaitsIt) {
    auto body = []() -> Task<std::string> {
        try {
            co_await failing("first");
        } catch (const std::runtime_error& error) {
            co_return error.what();
        }
        co_return "nothing thrown";
    };
    Scheduler scheduler;
    EXPECT_EQ(scheduler.run(body()), "first");
    EXPECT_THROW(scheduler.run(failing("second")), std::runtime_error);
    EXPECT_EQ(scheduler.run(number(1)), 1) << "a scheduler outlives failures";
}

TEST(Spawn, TasksTakeTurns) {
    std::string order;
    auto body = [](std::string& into, char name) -> Task<> {
        for (int i = 0; i < 3; ++i) {
            into += name;
            co_await this_task::yield();
        }
    };
    auto main = [&]() -> Task<> {
        spawn(body(order, 'a'));
        spawn(body(order, 'b'));
        co_return;
    };
    Scheduler scheduler;
    scheduler.run(main());
    EXPECT_EQ(order, "ababab");
    EXPECT_EQ(scheduler.size(), 0U);
}

TEST(Spawn, ResultIsTakenOnce) {
    auto main = []() -> Task<int> {
        Spawned<int> one = spawn(number(4));
        EXPECT_FALSE(one.is_over());
        const int first = co_await one;
        EXPECT_FALSE(one.valid());
        try {
            co_await one;
        } catch (const Error& error) {
            EXPECT_EQ(error.code(), Errc::invalid_argument);
            co_return first;
        }
        co_return 0;
    };
    Scheduler scheduler;
    EXPECT_EQ(scheduler.run(main()), 4);
}

TEST(Spawn, OneTaskAwaitsTheEndOfAnother) {
    auto main = []() -> Task<> {
        Spawned<int> slow = spawn([]() -> Task<int> {
            co_await this_task::sleep_for(1ms);
            co_return 1;
        }());
        auto other = [](Spawned<int>& of) -> Task<bool> {
            try {
                co_await of;
            } catch (const Error& error) {
                co_return error.code() == Errc::invalid_argument;
            }
            co_return false;
        };
        Spawned<bool> second = spawn(other(slow));
        EXPECT_EQ(co_await slow, 1);
        EXPECT_TRUE(co_await second) << "two tasks await one end";
    };
    Scheduler scheduler;
    scheduler.run(main());
}

TEST(Spawn, RunWaitsForAllThatWasSpawned) {
    bool has_ended = false;
    auto late = [](bool& ended) -> Task<> {
        co_await this_task::sleep_for(2ms);
        ended = true;
    };
    auto main = [&]() -> Task<> {
        spawn(late(has_ended));
        co_return;
    };
    Scheduler scheduler;
    scheduler.run(main());
    EXPECT_TRUE(has_ended);
}

TEST(Spawn, AnExceptionThatNobodyTakesComesOutOfRun) {
    bool is_stopped = false;
    auto endless = [](bool& stopped) -> Task<> {
        try {
            co_await this_task::sleep_for(1h);
        } catch (const Error& error) {
            stopped = error.code() == Errc::interrupted;
            throw;
        }
    };
    auto main = [&]() -> Task<> {
        spawn(endless(is_stopped));
        spawn(failing("nobody takes this"));
        co_return;
    };
    Scheduler scheduler;
    EXPECT_THROW(scheduler.run(main()), std::runtime_error);
    EXPECT_TRUE(is_stopped) << "the others are asked to stop";
}

TEST(Spawn, SeveralExceptionsComeTogether) {
    auto main = []() -> Task<> {
        spawn(failing("one"));
        spawn(failing("two"));
        co_return;
    };
    Scheduler scheduler;
    try {
        scheduler.run(main());
        FAIL() << "nothing was thrown";
    } catch (const TaskErrors& errors) {
        EXPECT_EQ(errors.all().size(), 2U);
        EXPECT_NE(std::string(errors.what()).find("one; two"), std::string::npos) << errors.what();
    }
}

TEST(Spawn, NeedsATask) {
    EXPECT_EQ(refusal([] { static_cast<void>(spawn(number(1))); }), Errc::invalid_argument);
    Scheduler scheduler;
    EXPECT_EQ(refusal([&] { scheduler.spawn(Task<int>()); }), Errc::invalid_argument);
    EXPECT_EQ(refusal([&] { scheduler.run(Task<int>()); }), Errc::invalid_argument);
    EXPECT_EQ(refusal([] { this_task::stop_token(); }), Errc::invalid_argument);
}

TEST(Scheduler, MayNotRunInATask) {
    Scheduler scheduler;
    auto main = [&]() -> Task<> {
        EXPECT_EQ(refusal([&] { scheduler.run(number(1)); }), Errc::invalid_argument);
        Scheduler other;
        EXPECT_EQ(refusal([&] { other.run(number(1)); }), Errc::invalid_argument);
        co_return;
    };
    scheduler.run(main());
}

TEST(Scheduler, PollGivesEachTaskATurn) {
    Scheduler scheduler;
    int turns = 0;
    auto body = [](int& count) -> Task<> {
        for (; count < 3; ++count) {
            co_await this_task::yield();
        }
    };
    scheduler.spawn(body(turns));
    EXPECT_EQ(scheduler.size(), 1U);
    EXPECT_EQ(scheduler.poll(), 1U);
    EXPECT_EQ(turns, 0);
    EXPECT_EQ(scheduler.poll(), 1U);
    EXPECT_EQ(turns, 1);
    while (scheduler.poll() != 0) {
    }
    EXPECT_EQ(turns, 3);
    scheduler.spawn(failing("to poll"));
    EXPECT_THROW(while (scheduler.poll() != 0){}, std::runtime_error);
}

TEST(Scheduler, EndsTasksThatAreLeft) {
    int destroyed = 0;
    struct Counts {
        int& count;
        ~Counts() { ++count; }
    };
    auto body = [](int& count) -> Task<> {
        const Counts counts{count};
        co_await this_task::sleep_for(1h);
    };
    auto outer = [&](int& count) -> Task<> {
        const Counts counts{count};
        Spawned<void> inner = spawn(body(count));
        co_await inner;
    };
    {
        Scheduler scheduler;
        scheduler.spawn(outer(destroyed));
        scheduler.poll();
        scheduler.poll();
        EXPECT_EQ(scheduler.size(), 2U);
    }
    EXPECT_EQ(destroyed, 2);
}

TEST(Scheduler, ASpawnedOutlivesIt) {
    Spawned<int> ended;
    Spawned<void> waits;
    {
        Scheduler scheduler;
        ended = scheduler.spawn(number(5));
        waits = scheduler.spawn([]() -> Task<> {
            co_await this_task::sleep_for(1h);
        }());
        scheduler.poll();
    }
    EXPECT_TRUE(ended.is_over());
    EXPECT_TRUE(waits.is_over());
    auto take = [](Spawned<int>& of) -> Task<int> {
        co_return co_await of;
    };
    auto take_none = [](Spawned<void>& of) -> Task<> {
        co_await of;
    };
    Scheduler other;
    EXPECT_EQ(other.run(take(ended)), 5);
    EXPECT_EQ(refusal([&] { other.run(take_none(waits)); }), Errc::invalid_argument);
}

TEST(Scheduler, NoticesThatTasksWaitForEachOther) {
    auto awaits = [](Spawned<void>& whom) -> Task<> {
        co_await whom;
    };
    Scheduler scheduler;
    Spawned<void> one;
    Spawned<void> other = scheduler.spawn(awaits(one));
    one = scheduler.spawn(awaits(other));
    try {
        scheduler.run(number(1));
        FAIL() << "nothing was thrown";
    } catch (const Error& error) {
        EXPECT_EQ(error.code(), Errc::deadlock);
        EXPECT_NE(std::string(error.what()).find("the end of another task"), std::string::npos)
            << error.what();
    }
    EXPECT_TRUE(one.is_over() && other.is_over());
    EXPECT_EQ(scheduler.run(number(2)), 2);
    EXPECT_EQ(refusal([&] { scheduler.run(awaits(one)); }), Errc::invalid_argument);
}

} // namespace
} // namespace corymb

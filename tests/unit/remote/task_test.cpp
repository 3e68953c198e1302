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

TEST(Finish, EndsWithTheLastTaskOfAnyDepth) {
    int count = 0;
    struct Tree {
        static Task<> grow(int& leaves, int depth) {
            if (depth == 0) {
                ++leaves;
                co_return;
            }
            spawn(grow(leaves, depth - 1));
            spawn(grow(leaves, depth - 1));
            co_await this_task::yield();
        }
    };
    auto main = [&]() -> Task<int> {
        co_await finish([&] { spawn(Tree::grow(count, 6)); });
        co_return count;
    };
    Scheduler scheduler;
    EXPECT_EQ(scheduler.run(main()), 64);
}

TEST(Finish, ScopesNest) {
    std::string order;
    auto after = [](std::string& into, int turns, char name) -> Task<> {
        for (int i = 0; i < turns; ++i) {
            co_await this_task::yield();
        }
        into += name;
    };
    auto main = [&]() -> Task<> {
        co_await finish([&]() -> Task<> {
            spawn(after(order, 20, 'c'));
            co_await finish([&] { spawn(after(order, 5, 'a')); });
            order += 'b';
        });
        order += 'd';
    };
    Scheduler scheduler;
    scheduler.run(main());
    EXPECT_EQ(order, "abcd");
}

TEST(Finish, ThrowsWhatItsTasksHaveThrown) {
    auto main = []() -> Task<std::string> {
        std::string text;
        try {
            co_await finish([] { spawn(failing("one")); });
        } catch (const std::runtime_error& error) {
            text = error.what();
        }
        try {
            co_await finish([]() -> Task<> {
                spawn(failing("of a task"));
                throw std::runtime_error("of the scope");
                co_return;
            });
        } catch (const TaskErrors& errors) {
            text += std::to_string(errors.all().size());
        }
        co_return text;
    };
    Scheduler scheduler;
    EXPECT_EQ(scheduler.run(main()), "one2");
}

TEST(Finish, WaitsForTasksThatAreAskedToStop) {
    bool has_ended = false;
    auto careful = [](bool& ended) -> Task<> {
        try {
            co_await this_task::sleep_for(1h);
        } catch (const Error&) {
        }
        co_await this_task::yield();
        ended = true;
    };
    auto main = [&](Scheduler& scheduler) -> Task<bool> {
        spawn([](Scheduler& of) -> Task<> {
            co_await this_task::yield();
            of.request_stop();
        }(scheduler));
        co_await finish([&] { spawn(careful(has_ended)); });
        co_return has_ended;
    };
    Scheduler scheduler;
    EXPECT_TRUE(scheduler.run(main(scheduler)));
}

} // namespace
} // namespace corymb

// SPDX-License-Identifier: Apache-2.0
#include <corymb/finish.hpp>
#include <corymb/scheduler.hpp>
#include <corymb/this_task.hpp>

#include <chrono>
#include <gtest/gtest.h>
#include <stdexcept>
#include <string>

namespace corymb {
namespace {

using namespace std::chrono_literals;

Task<int> failing(std::string text) {
    co_await this_task::yield();
    throw std::runtime_error(text);
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

Task<> lacking(Rank rank) {
    co_await this_task::yield();
    throw Error(Errc::team_broken, "rank " + std::to_string(rank) + " has left", {rank});
}

TEST(Finish, ThrowsAllOfNestedOnesAndNamesTheirRanks) {
    auto main = []() -> Task<> {
        co_await finish([]() -> Task<> {
            spawn(lacking(5));
            co_await finish([] {
                spawn(lacking(7));
                spawn(lacking(2));
                spawn(lacking(7));
            });
        });
    };
    Scheduler scheduler;
    try {
        scheduler.run(main());
        ADD_FAILURE() << "nothing thrown";
    } catch (const TaskErrors& errors) {
        EXPECT_EQ(errors.all().size(), 4U);
        EXPECT_EQ(errors.ranks(), (std::vector<int>{2, 5, 7}));
        EXPECT_TRUE(std::string(errors.what()).starts_with("4 tasks")) << errors.what();
    }
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

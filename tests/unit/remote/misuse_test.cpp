// SPDX-License-Identifier: Apache-2.0
// What tasks do when programs make mistakes.
#include "remote/refusal.hpp"

#include <corymb/finish.hpp>
#include <corymb/scheduler.hpp>
#include <corymb/task_channel.hpp>
#include <corymb/task_semaphore.hpp>
#include <corymb/this_task.hpp>

#include <chrono>
#include <gtest/gtest.h>
#include <memory>
#include <stdexcept>
#include <utility>

namespace corymb {
namespace {

using namespace std::chrono_literals;

Task<int> seven() {
    co_return 7;
}

TEST(TaskMisuse, AwaitingNoTaskIsRefused) {
    Scheduler scheduler;
    EXPECT_EQ(refusal([&] {
                  scheduler.run([]() -> Task<> {
                      co_await Task<int>();
                  }());
              }),
              Errc::invalid_argument);
}

TEST(TaskMisuse, ATaskIsAwaitedOnce) {
    Scheduler scheduler;
    EXPECT_EQ(refusal([&] {
                  scheduler.run([]() -> Task<> {
                      Task<int> task = seven();
                      EXPECT_EQ(co_await std::move(task), 7);
                      co_await std::move(task);
                  }());
              }),
              Errc::invalid_argument);
    EXPECT_EQ(refusal([&] {
                  scheduler.run([]() -> Task<> {
                      Task<int> task = seven();
                      EXPECT_EQ(co_await std::move(task), 7);
                      spawn(std::move(task));
                  }());
              }),
              Errc::invalid_argument);
}

TEST(TaskMisuse, ARefusedRunStartsNothing) {
    Scheduler scheduler;
    bool has_run = false;
    scheduler.run([](Scheduler& own, bool& mark) -> Task<> {
        EXPECT_EQ(refusal([&] {
                      own.run([](bool& to) -> Task<> {
                          to = true;
                          co_return;
                      }(mark));
                  }),
                  Errc::invalid_argument);
        co_await this_task::yield();
        co_await this_task::yield();
    }(scheduler, has_run));
    EXPECT_FALSE(has_run);
}

TEST(TaskMisuse, AChannelThatGoesBeforeItsTasksIsNoCrash) {
    Scheduler scheduler;
    EXPECT_THROW(scheduler.run([]() -> Task<> {
        TaskChannel<int> channel(0);
        TaskSemaphore semaphore(0);
        spawn([](TaskChannel<int>& from) -> Task<> {
            static_cast<void>(co_await from.receive());
        }(channel));
        spawn([](TaskSemaphore& of) -> Task<> {
            co_await of.acquire();
        }(semaphore));
        co_await this_task::yield();
        throw std::runtime_error("main");
    }()),
                 std::runtime_error);
}

TEST(TaskMisuse, ATaskMayHoldItsOwnHandle) {
    struct Service {
        Spawned<void> loop;
    };
    auto service = std::make_shared<Service>();
    const std::weak_ptr<Service> watch = service;
    {
        Scheduler scheduler;
        service->loop = scheduler.spawn([](std::shared_ptr<Service>) -> Task<> {
            co_await this_task::sleep_for(1h);
        }(service));
        service = nullptr;
        scheduler.poll();
    }
    EXPECT_TRUE(watch.expired());
}

TEST(TaskMisuse, AnUntakenExceptionGoesToTheFinishAroundIt) {
    Scheduler scheduler;
    scheduler.run([]() -> Task<> {
        auto body = []() -> Task<> {
            const Spawned<void> held = spawn([]() -> Task<> {
                throw std::range_error("untaken");
                co_return;
            }());
            co_await this_task::yield();
            co_await this_task::yield();
            EXPECT_TRUE(held.is_over());
        };
        try {
            co_await finish(body);
            ADD_FAILURE() << "nothing thrown";
        } catch (const std::range_error&) {
        }
    }());
}

TEST(TaskMisuse, TheMainTaskThatIsStoppedByAFailureIsNoFailure) {
    Scheduler scheduler;
    EXPECT_THROW(scheduler.run([]() -> Task<> {
        spawn([]() -> Task<> {
            throw std::range_error("the cause");
            co_return;
        }());
        co_await this_task::sleep_for(1h);
    }()),
                 std::range_error);
}

TEST(TaskMisuse, AHandleMayOutliveTheFinishOfItsTask) {
    Scheduler scheduler;
    EXPECT_THROW(scheduler.run([]() -> Task<> {
        Spawned<void> outer;
        co_await finish([&] {
            outer = spawn([]() -> Task<> {
                throw std::range_error("later");
                co_return;
            }());
        });
    }()),
                 std::range_error);
}

} // namespace
} // namespace corymb

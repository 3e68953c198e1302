// SPDX-License-Identifier: Apache-2.0
// A scheduler beside an event loop: whenever its descriptor is readable it is polled, else never.
#include "limits.hpp"
#include "remote/refusal.hpp"

#include <corymb/remote.hpp>
#include <corymb/scheduler.hpp>
#include <corymb/team.hpp>
#include <corymb/this_task.hpp>

#include <chrono>
#include <gtest/gtest.h>
#include <poll.h>
#include <thread>

namespace corymb {
namespace {

using namespace std::chrono_literals;

/// Until all tasks have ended. Returns how often the descriptor was readable.
int loop(Scheduler& scheduler) {
    const int descriptor = scheduler.descriptor();
    int times = 0;
    while (scheduler.size() != 0) {
        pollfd one{descriptor, POLLIN, 0};
        const auto limit = std::chrono::duration_cast<std::chrono::milliseconds>(test_limit());
        if (::poll(&one, 1, static_cast<int>(limit.count())) != 1) {
            ADD_FAILURE() << "nobody has made the descriptor readable";
            return times;
        }
        ++times;
        scheduler.poll();
    }
    return times;
}

TEST(Descriptor, IsReadableForTimersAndTasksThatCanGoOn) {
    Scheduler scheduler;
    bool has_slept = false;
    scheduler.spawn([](bool& slept) -> Task<> {
        for (int i = 0; i < 10; ++i) {
            co_await this_task::yield();
        }
        co_await this_task::sleep_for(5ms);
        slept = true;
    }(has_slept));
    EXPECT_GE(loop(scheduler), 11);
    EXPECT_TRUE(has_slept);
}

TEST(Descriptor, IsReadableForATaskThatIsSpawnedLater) {
    Scheduler scheduler;
    static_cast<void>(scheduler.descriptor());
    auto nothing = []() -> Task<> {
        co_return;
    };
    scheduler.spawn(nothing());
    loop(scheduler);
    EXPECT_EQ(scheduler.poll(), 0U);
    scheduler.spawn(nothing());
    EXPECT_GE(loop(scheduler), 1);
}

TEST(Descriptor, IsReadableForRequests) {
    threads(2, [](Team& team) {
        auto barriers = [](Team& of) -> Task<> {
            for (int i = 0; i < 30; ++i) {
                if (of.rank() == i % 2) {
                    co_await this_task::sleep_for(200us);
                }
                co_await of.ibarrier();
            }
        };
        Scheduler scheduler;
        scheduler.spawn(barriers(team));
        loop(scheduler);
    });
}

TEST(Descriptor, IsReadableForCalls) {
    RemoteGroup group(2);
    auto body = [&group](Rank rank) {
        RemoteRank own = group.join(rank);
        auto call = [](Rank other) -> Task<> {
            for (int i = 0; i < 30; ++i) {
                EXPECT_EQ(co_await at(other, [](int add) { return here() + add; }, i), other + i);
            }
        };
        own.scheduler().spawn(call(1 - rank));
        loop(own.scheduler());
        own.run([]() -> Task<> {
            co_return;
        }()); // The other one may still call.
    };
    std::jthread other([&] { body(1); });
    body(0);
}

TEST(Descriptor, IsReadableAfterAStopFromAnotherThread) {
    Scheduler scheduler;
    std::stop_source source;
    bool is_stopped = false;
    auto sleep = [](bool& stopped) -> Task<> {
        try {
            co_await this_task::sleep_for(1h);
        } catch (const Error& error) {
            stopped = error.code() == Errc::interrupted;
        }
    };
    scheduler.spawn(sleep(is_stopped), source.get_token());
    std::jthread other([&source] {
        std::this_thread::sleep_for(2ms);
        source.request_stop();
    });
    loop(scheduler);
    EXPECT_TRUE(is_stopped);
}

} // namespace
} // namespace corymb

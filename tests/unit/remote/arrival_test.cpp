// SPDX-License-Identifier: Apache-2.0
#include "remote/refusal.hpp"

#include <corymb/arrival.hpp>
#include <corymb/mailbox.hpp>
#include <corymb/multicast.hpp>
#include <corymb/scheduler.hpp>
#include <corymb/this_task.hpp>
#include <corymb/when.hpp>

#include <atomic>
#include <chrono>
#include <gtest/gtest.h>
#include <stdexcept>
#include <thread>
#include <utility>

namespace corymb {
namespace {

using namespace std::chrono_literals;

Task<int> receive(Mailbox& box) {
    int got = 0;
    while (got == 0) {
        co_await arrival(box);
        box.probe_values<int>([&got](Rank, int value) { got = value; }, 1);
    }
    co_return got;
}

TEST(Arrival, ATaskIsWokenByAMessage) {
    for (const WaitPolicy policy : {WaitPolicy::ladder, WaitPolicy::park}) {
        MailboxGroup group(2);
        std::jthread other([&group] {
            Mailbox box = group.join(1);
            auto echo = [](Mailbox& own) -> Task<> {
                for (int i = 1; i <= 50; ++i) {
                    const int got = co_await receive(own);
                    EXPECT_TRUE(own.send_value(0, got));
                }
            };
            Scheduler scheduler;
            scheduler.run(echo(box));
        });
        Mailbox box = group.join(0);
        auto ask = [](Mailbox& own) -> Task<> {
            for (int i = 1; i <= 50; ++i) {
                EXPECT_TRUE(own.send_value(1, i));
                EXPECT_EQ(co_await receive(own), i);
            }
        };
        Scheduler scheduler({.wait = policy});
        scheduler.run(ask(box));
    }
}

TEST(Arrival, EndsWithAStopAndWithAnEmptyHandle) {
    MailboxGroup group(1);
    Mailbox box = group.join(0);
    Scheduler scheduler;
    EXPECT_EQ(refusal([&] { scheduler.run(within(1ms, receive(box))); }), Errc::timeout);
    EXPECT_TRUE(box.send_value(0, 3));
    EXPECT_EQ(scheduler.run(receive(box)), 3);
    Mailbox none;
    EXPECT_EQ(refusal([&] { scheduler.run(receive(none)); }), Errc::invalid_argument);
    scheduler.spawn(receive(box));
    scheduler.poll(); // Its end comes with that of the scheduler.
}

TEST(Completion, OfACallThatAllHaveAcknowledged) {
    MulticastGroup group(2);
    std::atomic<bool> is_over{false};
    std::atomic<int> ran{0};
    std::jthread other([&] {
        Multicast member = group.join(1);
        while (!is_over) {
            member.sleep(1ms);
        }
    });
    while (group.members() == 0) {
        std::this_thread::yield();
    }
    Multicast own = group.initiator(0);
    auto call = [&]() -> Task<> {
        for (int i = 0; i < 20; ++i) {
            MulticastToken token = own.call([&ran] { ++ran; });
            co_await completion(token);
        }
        MulticastToken failing = own.call([] { throw std::length_error("of a member"); });
        try {
            co_await completion(failing);
            ADD_FAILURE() << "nothing thrown";
        } catch (const std::length_error& error) {
            EXPECT_STREQ(error.what(), "of a member");
        }
    };
    Scheduler scheduler;
    scheduler.run(call());
    is_over = true;
    EXPECT_EQ(ran, 20);
}

} // namespace
} // namespace corymb

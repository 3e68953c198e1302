// SPDX-License-Identifier: Apache-2.0
// Mailboxes among threads: nothing is lost, nobody sleeps through a message. Every wait has a limit
// that a loaded machine does not reach.
#include "limits.hpp"

#include <corymb/mailbox.hpp>

#include <gtest/gtest.h>

#include <atomic>
#include <cstdint>
#include <memory>
#include <thread>
#include <vector>

namespace corymb {
namespace {

using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;

const auto patience = test_limit();

/// Sends, answering nothing meanwhile; false when the limit has passed.
template <class T>
bool send_soon(Mailbox& box, Rank to, const T& value) {
    const auto limit = Clock::now() + patience;
    while (!box.send_value(to, value)) {
        if (Clock::now() > limit) {
            return false;
        }
        std::this_thread::yield();
    }
    return true;
}

class MailboxThreadsTest : public testing::TestWithParam<MailboxProtocol> {};

INSTANTIATE_TEST_SUITE_P(Protocols, MailboxThreadsTest,
                         testing::Values(MailboxProtocol::ring, MailboxProtocol::nvp,
                                         MailboxProtocol::srbp),
                         [](const auto& test) { return to_string(test.param); });

struct Item {
    std::uint64_t number;
    std::uint64_t check;
};

TEST_P(MailboxThreadsTest, ManyToOneLosesNothingAndKeepsEachOrder) {
    constexpr int senders = 4;
    constexpr std::uint64_t each = 2000;
    MailboxGroup group(senders + 1, {.protocol = GetParam(), .capacity = 8});
    Mailbox receiver = group.join(0);
    std::atomic<int> failed = 0;
    std::vector<std::jthread> threads;
    for (Rank rank = 1; rank <= senders; ++rank) {
        threads.emplace_back([&group, &failed, rank] {
            Mailbox box = group.join(rank);
            for (std::uint64_t i = 0; i < each; ++i) {
                const Item item{i, i * 3 + static_cast<std::uint64_t>(rank)};
                if (!send_soon(box, 0, item)) {
                    ++failed;
                    return;
                }
            }
        });
    }
    std::vector<std::uint64_t> next(senders + 1);
    std::uint64_t received = 0, wrong = 0;
    while (received < senders * each && receiver.wait(patience)) {
        received += receiver.probe_values<Item>([&](Rank from, const Item& item) {
            const auto source = static_cast<std::size_t>(from);
            wrong += item.number != next[source]++ ||
                     item.check != item.number * 3 + static_cast<std::uint64_t>(from);
        });
    }
    EXPECT_EQ(received, senders * each);
    EXPECT_EQ(wrong, 0u);
    EXPECT_EQ(failed, 0);
}

TEST_P(MailboxThreadsTest, AllToAllWithAnswers) {
    constexpr int members = 3;
    constexpr int rounds = 300;
    MailboxGroup group(members, {.protocol = GetParam(), .capacity = 2});
    std::atomic<int> complete = 0;
    const auto work = [&](Rank rank) {
        Mailbox box = group.join(rank);
        int sent = 0, answers = 0, requests = 0;
        std::vector<std::pair<Rank, int>> owed; // Answers that found no room yet.
        const auto limit = Clock::now() + patience;
        while (answers < rounds || requests < rounds) {
            if (Clock::now() > limit) {
                return;
            }
            const Rank to = (rank + 1) % members;
            sent += sent < rounds && box.send_value(to, sent + 1) ? 1 : 0;
            while (!owed.empty() && box.send_value(owed.back().first, owed.back().second)) {
                owed.pop_back();
            }
            box.probe_values<int>([&](Rank from, int value) {
                if (value > 0) {
                    ++requests;
                    owed.emplace_back(from, -value);
                } else {
                    ++answers;
                }
            });
            if (owed.empty() && sent == rounds) {
                static_cast<void>(box.wait(1ms));
            } else {
                std::this_thread::yield();
            }
        }
        while (!owed.empty() && Clock::now() < limit) {
            if (box.send_value(owed.back().first, owed.back().second)) {
                owed.pop_back();
            }
            box.probe([](Rank, auto) {});
        }
        ++complete;
        while (complete < members && Clock::now() < limit) { // Nobody may be sent to when closed.
            std::this_thread::sleep_for(1ms);
        }
    };
    {
        std::jthread one([&] { work(1); });
        std::jthread two([&] { work(2); });
        work(0);
    }
    EXPECT_EQ(complete, members);
}

TEST_P(MailboxThreadsTest, SendersWaitForRoomAndLoseNothing) {
    constexpr int senders = 3;
    constexpr int each = 1000;
    for (const WaitPolicy wait : {WaitPolicy::ladder, WaitPolicy::park}) {
        MailboxGroup group(senders + 1, {.protocol = GetParam(), .capacity = 4, .wait = wait});
        Mailbox receiver = group.join(0);
        std::atomic<int> failed = 0;
        std::vector<std::jthread> threads;
        for (Rank rank = 1; rank <= senders; ++rank) {
            threads.emplace_back([&group, &failed, rank] {
                Mailbox box = group.join(rank);
                for (int i = 0; i < each; ++i) {
                    failed += box.send_value(0, i, patience) ? 0 : 1;
                }
            });
        }
        std::vector<int> next(senders + 1);
        for (int got = 0; got < senders * each;) {
            ASSERT_TRUE(receiver.wait(patience));
            got += static_cast<int>(receiver.probe_values<int>(
                [&](Rank from, int number) {
                    EXPECT_EQ(number, next[static_cast<std::size_t>(from)]++);
                },
                3));
        }
        EXPECT_EQ(failed, 0);
    }
}

TEST_P(MailboxThreadsTest, WhoWaitsForRoomIsToldThatTheReceiverHasLeft) {
    MailboxGroup group(2, {.protocol = GetParam(), .capacity = 1});
    Mailbox sender = group.join(0);
    auto receiver = std::make_unique<Mailbox>(group.join(1));
    ASSERT_TRUE(sender.send_value(1, 1));
    std::jthread leaves([&] {
        std::this_thread::sleep_for(30ms);
        receiver.reset();
    });
    try {
        static_cast<void>(sender.wait_for_room(1, patience));
        FAIL() << "there is nobody to make room";
    } catch (const Error& error) {
        EXPECT_EQ(error.code(), Errc::invalid_argument) << error.what();
        EXPECT_EQ(error.ranks(), std::vector<int>{1});
    }
}

TEST_P(MailboxThreadsTest, SleepersAreWoken) {
    constexpr int rounds = 400;
    MailboxGroup group(2, {.protocol = GetParam(), .capacity = 1, .wait = WaitPolicy::park});
    const auto play = [&](Rank rank) {
        Mailbox box = group.join(rank);
        int turn = 0;
        for (int i = 0; i < rounds; ++i) {
            if (rank == 0 && !send_soon(box, 1, turn)) {
                return turn;
            }
            if (!box.wait(patience)) {
                return turn;
            }
            box.probe_values<int>([&](Rank, int value) { turn = value + 1; });
            if (rank == 1 && !send_soon(box, 0, turn)) {
                return turn;
            }
        }
        return turn;
    };
    int last = 0;
    std::jthread other([&] { play(1); });
    last = play(0);
    EXPECT_EQ(last, 2 * rounds);
}

} // namespace
} // namespace corymb

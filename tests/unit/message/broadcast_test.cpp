// SPDX-License-Identifier: Apache-2.0
// A broadcast ring among the threads of one process: policies, errors, joins and leaves.
#include "limits.hpp"

#include <corymb/broadcast_ring.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

namespace corymb {
namespace {

using namespace std::chrono_literals;

const auto patience = test_limit();

template <class F>
void expect_error(Errc code, const std::string& says, const F& call) {
    try {
        call();
        ADD_FAILURE() << "nothing was thrown; expected: " << says;
    } catch (const Error& error) {
        EXPECT_EQ(error.code(), code) << error.what();
        EXPECT_NE(std::string(error.what()).find(says), std::string::npos) << error.what();
    }
}

/// Numbers and gaps of what a probe finds.
struct Found {
    std::vector<std::uint64_t> values;
    std::uint64_t missed = 0;
};
Found probe(BroadcastReader& reader, std::size_t most = 1'000'000) {
    Found found;
    reader.probe_values<std::uint64_t>(
        [&](std::uint64_t value, const BroadcastMessage& message) {
            EXPECT_EQ(value, message.number * 7) << "a message and its number belong together";
            found.values.push_back(value / 7);
            found.missed += message.missed;
        },
        most);
    return found;
}
void publish(BroadcastPublisher& publisher, std::uint64_t first, std::uint64_t last) {
    for (std::uint64_t number = first; number <= last; ++number) {
        publisher.publish_value(number * 7);
    }
}

TEST(BroadcastTest, EveryReaderGetsEveryMessageSinceItsJoinAndInOrder) {
    BroadcastRing ring({.slots = 8});
    BroadcastPublisher publisher = ring.publisher();
    BroadcastReader early = ring.reader();
    publish(publisher, 1, 3);
    BroadcastReader late = ring.reader(BroadcastPolicy::drop);
    publish(publisher, 4, 5);
    EXPECT_EQ(probe(early).values, (std::vector<std::uint64_t>{1, 2, 3, 4, 5}));
    EXPECT_EQ(probe(late, 1).values, (std::vector<std::uint64_t>{4}));
    EXPECT_EQ(probe(late).values, (std::vector<std::uint64_t>{5}));
    EXPECT_TRUE(probe(late).values.empty());
    EXPECT_NE(early.number(), late.number());
    EXPECT_EQ(late.last(), 5U);
    EXPECT_EQ(publisher.published(), 5U);
}

TEST(BroadcastTest, MessagesOfEveryLengthArriveWhole) {
    constexpr std::size_t longest = 1000;
    BroadcastRing ring({.message_bytes = longest, .slots = 4});
    BroadcastPublisher publisher = ring.publisher();
    BroadcastReader reader = ring.reader();
    std::vector<std::uint8_t> sent(longest);
    for (std::size_t length : {std::size_t{0}, std::size_t{1}, std::size_t{7}, std::size_t{8},
                               std::size_t{56}, std::size_t{57}, longest}) {
        for (std::size_t i = 0; i < length; ++i) {
            sent[i] = static_cast<std::uint8_t>(i * 31 + length);
        }
        publisher.publish(length == 0 ? nullptr : sent.data(), length);
        std::size_t got = 0;
        reader.probe([&](const BroadcastMessage& message) {
            ASSERT_EQ(message.bytes.size(), length);
            EXPECT_TRUE(std::equal(message.bytes.begin(), message.bytes.end(),
                                   std::as_bytes(std::span(sent)).begin()));
            ++got;
        });
        EXPECT_EQ(got, 1U);
    }
}

TEST(BroadcastTest, ABlockingReaderStopsThePublisherAndIsNamed) {
    BroadcastRing ring({.slots = 4});
    BroadcastPublisher publisher = ring.publisher();
    BroadcastReader quick = ring.reader();
    BroadcastReader slow = ring.reader();
    publish(publisher, 1, 4);
    EXPECT_EQ(probe(quick).values.size(), 4U);
    EXPECT_FALSE(publisher.try_publish(nullptr, 0));
    try {
        publisher.publish(nullptr, 0, 30ms);
        ADD_FAILURE() << "published over an unread message";
    } catch (const Error& error) {
        const std::string text = error.what();
        EXPECT_EQ(error.code(), Errc::timeout);
        EXPECT_EQ(error.ranks(), std::vector<int>{slow.number()});
        EXPECT_NE(text.find("reader 1 has read 0 messages and is 4 behind"), std::string::npos)
            << text;
    }
    EXPECT_EQ(probe(slow, 1).values, std::vector<std::uint64_t>{1});
    publish(publisher, 5, 5);
    EXPECT_EQ(probe(slow).values, (std::vector<std::uint64_t>{2, 3, 4, 5}));
    EXPECT_EQ(probe(quick).values, (std::vector<std::uint64_t>{5}));
}

TEST(BroadcastTest, WhoLeavesIsNotWaitedFor) {
    BroadcastRing ring({.slots = 2, .readers = 1});
    BroadcastPublisher publisher = ring.publisher();
    for (std::uint64_t round = 0; round < 5; ++round) {
        BroadcastReader reader = ring.reader();
        EXPECT_EQ(reader.number(), 0) << "the line is used again";
        EXPECT_EQ(ring.readers().size(), 1U);
        expect_error(Errc::invalid_argument, "1 readers", [&] { auto one = ring.reader(); });
        publish(publisher, 2 * round + 1, 2 * round + 2);
        EXPECT_FALSE(publisher.try_publish(nullptr, 0));
    }
    EXPECT_TRUE(ring.readers().empty());
    publish(publisher, 11, 20);
}

TEST(BroadcastTest, ADroppedReaderIsToldAndReported) {
    BroadcastRing ring({.slots = 4});
    BroadcastPublisher publisher = ring.publisher();
    BroadcastReader dropped = ring.reader(BroadcastPolicy::drop);
    publish(publisher, 1, 3);
    EXPECT_EQ(probe(dropped).values.size(), 3U);
    publish(publisher, 4, 7);
    EXPECT_TRUE(publisher.take_dropped().empty());
    publish(publisher, 8, 8);
    const auto told = publisher.take_dropped();
    ASSERT_EQ(told.size(), 1U);
    EXPECT_EQ(told[0].reader, dropped.number());
    EXPECT_EQ(told[0].last, 3U);
    EXPECT_EQ(told[0].lag, 5U);
    EXPECT_TRUE(told[0].is_dropped);
    EXPECT_FALSE(told[0].has_ended);
    EXPECT_TRUE(publisher.take_dropped().empty()) << "told once";
    expect_error(Errc::timeout, "reader 0 was dropped: it had read 3 of 8 messages",
                 [&] { probe(dropped); });
    expect_error(Errc::timeout, "was dropped", [&] { static_cast<void>(dropped.wait(patience)); });
    dropped = {};
    BroadcastReader next = ring.reader(BroadcastPolicy::drop);
    publish(publisher, 9, 10);
    EXPECT_EQ(probe(next).values, (std::vector<std::uint64_t>{9, 10}));
}

TEST(BroadcastTest, ThePublisherMayGoOnWithoutAReaderThatBlocks) {
    BroadcastRing ring({.slots = 2});
    BroadcastPublisher publisher = ring.publisher();
    BroadcastReader reader = ring.reader();
    publish(publisher, 1, 2);
    EXPECT_FALSE(publisher.try_publish(nullptr, 0));
    expect_error(Errc::invalid_argument, "no reader 1", [&] { publisher.drop(1); });
    expect_error(Errc::invalid_argument, "no reader -1", [&] { publisher.drop(-1); });
    publisher.drop(reader.number());
    EXPECT_EQ(probe(reader).values, (std::vector<std::uint64_t>{1, 2})) << "what it still could";
    publish(publisher, 3, 6);
    expect_error(Errc::timeout, "was dropped", [&] { probe(reader); });
}

TEST(BroadcastTest, ASleepingReaderWakesUpWhenItIsDropped) {
    BroadcastRing ring({.wait = WaitPolicy::park});
    BroadcastPublisher publisher = ring.publisher();
    std::jthread sleeper([reader = ring.reader()]() mutable {
        expect_error(Errc::timeout, "was dropped",
                     [&] { static_cast<void>(reader.wait(patience)); });
    });
    std::this_thread::sleep_for(5ms);
    publisher.drop(0);
    sleeper.join();
    EXPECT_TRUE(ring.readers().empty());
}

TEST(BroadcastTest, AnOverrunReaderIsToldHowManyItMissed) {
    BroadcastRing ring({.slots = 8});
    BroadcastPublisher publisher = ring.publisher();
    BroadcastReader reader = ring.reader(BroadcastPolicy::overrun);
    publish(publisher, 1, 2);
    EXPECT_EQ(probe(reader).values, (std::vector<std::uint64_t>{1, 2}));
    publish(publisher, 3, 100);
    const Found found = probe(reader);
    EXPECT_EQ(found.missed, 94U);
    EXPECT_EQ(found.values, (std::vector<std::uint64_t>{97, 98, 99, 100}));
    EXPECT_EQ(ring.readers().at(0).lag, 0U);
    EXPECT_FALSE(ring.readers().at(0).is_dropped);
}

TEST(BroadcastTest, ClosingEndsTheStreamAfterTheLastMessage) {
    BroadcastRing ring({.slots = 4});
    BroadcastReader reader = ring.reader();
    EXPECT_FALSE(reader.wait(0ns));
    EXPECT_FALSE(reader.at_end()) << "there may still come a publisher";
    {
        BroadcastPublisher publisher = ring.publisher();
        expect_error(Errc::invalid_argument, "its publisher", [&] { auto two = ring.publisher(); });
        publish(publisher, 1, 1);
    }
    EXPECT_TRUE(reader.wait(patience));
    EXPECT_FALSE(reader.at_end());
    EXPECT_EQ(probe(reader).values.size(), 1U);
    EXPECT_FALSE(reader.wait(patience));
    EXPECT_TRUE(reader.at_end());
    expect_error(Errc::invalid_argument, "its publisher", [&] { auto two = ring.publisher(); });
}

TEST(BroadcastTest, WhatIsWrongIsRefused) {
    const auto make = [](const BroadcastOptions& options) {
        return [options] {
            const BroadcastRing ring(options);
        };
    };
    expect_error(Errc::invalid_argument, "slots is 1", make({.slots = 1}));
    expect_error(Errc::invalid_argument, "readers is 0", make({.readers = -3}));
    expect_error(Errc::invalid_argument, "deadline is negative",
                 make({.deadline = std::chrono::seconds(-1)}));
    expect_error(Errc::invalid_argument, "message_bytes", make({.message_bytes = 1U << 24U}));
    expect_error(Errc::invalid_argument, "1 GiB",
                 make({.message_bytes = 1U << 20U, .slots = 1U << 20U}));
    BroadcastRing ring({.message_bytes = 8, .slots = 2});
    BroadcastPublisher publisher = ring.publisher();
    BroadcastReader reader = ring.reader();
    const std::array<char, 9> data{};
    expect_error(Errc::invalid_argument, "longer than this ring",
                 [&] { publisher.publish(data.data(), data.size()); });
    expect_error(Errc::invalid_argument, "not null", [&] { publisher.publish(nullptr, 1); });
    expect_error(Errc::invalid_argument, "threads of one process",
                 [&] { static_cast<void>(ring.make_descriptor()); });
    EXPECT_EQ(publisher.published(), 0U);
    publisher.publish_value('x');
    expect_error(Errc::mismatch, "1 bytes", [&] { probe(reader); });
    EXPECT_TRUE(probe(reader).values.empty()) << "it counts as read";
    BroadcastReader empty;
    expect_error(Errc::invalid_argument, "empty", [&] { probe(empty); });
}

TEST(BroadcastTest, ALateReaderMayStartWithTheLastMessage) {
    using Values = std::vector<std::uint64_t>;
    for (const auto policy :
         {BroadcastPolicy::block, BroadcastPolicy::drop, BroadcastPolicy::overrun}) {
        BroadcastRing ring({.slots = 2});
        BroadcastPublisher publisher = ring.publisher();
        BroadcastReader first = ring.reader(policy, BroadcastStart::last);
        EXPECT_FALSE(first.wait(std::chrono::nanoseconds(0))) << "there is none";
        publish(publisher, 1, 1);
        EXPECT_EQ(probe(first).values, Values{1});
        first = BroadcastReader();
        publish(publisher, 2, 7);
        BroadcastReader late = ring.reader(policy, BroadcastStart::last);
        EXPECT_EQ(late.last(), 6U);
        EXPECT_TRUE(late.wait(std::chrono::nanoseconds(0)));
        publish(publisher, 8, 8);
        EXPECT_EQ(late.probe(
                      [](const BroadcastMessage& message) {
                          EXPECT_EQ(message.number, 7U);
                          EXPECT_EQ(message.missed, 0U);
                      },
                      1),
                  1U);
        EXPECT_EQ(late.last(), 7U);
        publish(publisher, 9, 9);
        EXPECT_EQ(probe(late).values, (Values{8, 9}));
        publisher = BroadcastPublisher();
        EXPECT_TRUE(late.at_end());
        BroadcastReader last = ring.reader(policy, BroadcastStart::last);
        EXPECT_FALSE(last.at_end()) << "also of a ring that is closed";
        EXPECT_EQ(probe(last).values, Values{9});
        EXPECT_TRUE(last.at_end());
    }
}

TEST(BroadcastTest, ACallbackMayThrowButNotUseItsReader) {
    BroadcastRing ring({.slots = 4});
    BroadcastPublisher publisher = ring.publisher();
    BroadcastReader reader = ring.reader();
    publish(publisher, 1, 3);
    EXPECT_THROW(reader.probe([](const BroadcastMessage&) { throw std::runtime_error("mine"); }),
                 std::runtime_error);
    expect_error(Errc::invalid_argument, "callbacks", [&] {
        reader.probe([&](const BroadcastMessage&) { static_cast<void>(reader.at_end()); });
    });
    EXPECT_EQ(probe(reader).values, (std::vector<std::uint64_t>{3}));
}

/// Takes messages until the ring is at its end; how many, without those that were missed.
struct Life {
    std::uint64_t taken = 0, missed = 0, first = 0, last = 0;
};
Life live(BroadcastReader reader) {
    Life life;
    life.first = reader.last() + 1;
    while (reader.wait(patience)) {
        reader.probe_values<std::array<std::uint64_t, 5>>(
            [&](const std::array<std::uint64_t, 5>& value, const BroadcastMessage& message) {
                for (const std::uint64_t word : value) {
                    EXPECT_EQ(word, message.number) << "a torn message";
                }
                EXPECT_EQ(message.number, reader.last());
                ++life.taken;
                life.missed += message.missed;
                life.last = message.number;
            });
    }
    EXPECT_TRUE(reader.at_end()) << "no wait took " << patience.count() << " s";
    return life;
}
void publish_all(BroadcastPublisher publisher, std::uint64_t messages) {
    for (std::uint64_t number = 1; number <= messages; ++number) {
        std::array<std::uint64_t, 5> value{};
        value.fill(number);
        publisher.publish_value(value, patience);
    }
}

TEST(BroadcastTest, ThreadsOfEveryPolicyReadWhileOthersComeAndGo) {
    static constexpr std::uint64_t messages = 6'000;
    for (const WaitPolicy wait : {WaitPolicy::ladder, WaitPolicy::park}) {
        BroadcastRing ring({.slots = 16, .wait = wait});
        BroadcastPublisher publisher = ring.publisher();
        std::atomic<bool> is_over = false;
        std::vector<std::jthread> threads; // Joined before what they use goes.
        for (const BroadcastPolicy policy :
             {BroadcastPolicy::block, BroadcastPolicy::block, BroadcastPolicy::overrun}) {
            threads.emplace_back([reader = ring.reader(policy), policy]() mutable {
                const Life life = live(std::move(reader));
                EXPECT_EQ(life.taken + life.missed, messages);
                EXPECT_TRUE(policy == BroadcastPolicy::overrun || life.missed == 0);
            });
        }
        threads.emplace_back([&ring, &is_over] {
            while (!is_over.load(std::memory_order_relaxed)) {
                BroadcastReader guest = ring.reader();
                const std::uint64_t first = guest.last() + 1;
                std::uint64_t taken = 0;
                while (taken < 40 && guest.wait(patience)) {
                    guest.probe([&](const BroadcastMessage& message) {
                        EXPECT_EQ(message.number, first + taken++);
                    });
                }
            }
        });
        publish_all(std::move(publisher), messages);
        is_over.store(true, std::memory_order_relaxed);
    }
}

} // namespace
} // namespace corymb

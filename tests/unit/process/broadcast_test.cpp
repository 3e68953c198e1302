// SPDX-License-Identifier: Apache-2.0
// A broadcast ring among processes: inherited descriptors, readers and publishers that are killed
// or stopped, and what the others are told.
#include "children.hpp"
#include "limits.hpp"

#include <corymb/broadcast_ring.hpp>

#include <array>
#include <filesystem>

namespace corymb {
namespace {

using namespace process_test;

const auto long_enough = test_limit();

/// Waits until the ring has so many readers.
void await_readers(const BroadcastRing& ring, std::size_t count) {
    const auto end = std::chrono::steady_clock::now() + long_enough;
    while (ring.readers().size() != count) {
        require(std::chrono::steady_clock::now() < end, "the readers come");
        std::this_thread::sleep_for(1ms);
    }
}

/// Reads numbers from 1 on until the end.
void read_all(int descriptor, std::uint64_t messages) {
    BroadcastReader reader = BroadcastRing::open(descriptor).reader();
    std::uint64_t sum = 0;
    while (reader.wait(long_enough)) {
        reader.probe_values<std::uint64_t>(
            [&](std::uint64_t value, const BroadcastMessage& message) {
                require(value == message.number, "whole and in order");
                sum += value;
            });
    }
    require(reader.at_end(), "the publisher has closed");
    require(sum == messages * (messages + 1) / 2, "nothing is lost");
}

TEST(BroadcastProcessTest, ProcessesReadWhatAnotherPublishes) {
    constexpr std::uint64_t messages = 5000;
    BroadcastRing ring({.slots = 32, .between_processes = true, .wait = WaitPolicy::park});
    const Descriptor descriptor(ring);
    Children children;
    for (int child = 0; child < 3; ++child) {
        children.start([&] { read_all(descriptor.number(), messages); });
    }
    await_readers(ring, 3);
    {
        BroadcastPublisher publisher = ring.publisher();
        for (std::uint64_t number = 1; number <= messages; ++number) {
            publisher.publish_value(number, long_enough);
        }
        EXPECT_TRUE(publisher.take_dropped().empty());
    }
    children.expect_all_good();
    EXPECT_TRUE(ring.readers().empty()) << "they have left";
}

TEST(BroadcastProcessTest, AKilledReaderIsDroppedAndNamed) {
    BroadcastRing ring({.slots = 8, .readers = 2, .between_processes = true});
    const Descriptor descriptor(ring);
    BroadcastPublisher publisher = ring.publisher();
    for (int round = 0; round < 3; ++round) {
        Children children;
        const std::size_t victim = children.start([&] {
            const BroadcastReader reader = BroadcastRing::open(descriptor.number()).reader();
            std::this_thread::sleep_for(long_enough);
        });
        await_readers(ring, 1);
        const auto number = ring.readers().at(0).reader;
        std::jthread killer([&] {
            std::this_thread::sleep_for(20ms);
            children.signal(victim, SIGKILL);
        });
        for (std::uint64_t value = 0; value < 20; ++value) { // Waits for the dead one, then not.
            publisher.publish_value(value, long_enough);
        }
        const auto dropped = publisher.take_dropped();
        ASSERT_EQ(dropped.size(), 1U);
        EXPECT_EQ(dropped[0].reader, number);
        EXPECT_EQ(dropped[0].pid, static_cast<std::uint32_t>(children.pid(victim)));
        EXPECT_TRUE(dropped[0].has_ended);
        EXPECT_GE(dropped[0].lag, 8U);
        EXPECT_TRUE(ring.readers().empty());
    }
}

TEST(BroadcastProcessTest, AStoppedReaderIsNamedAtTheDeadline) {
    BroadcastRing ring(
        {.slots = 2, .between_processes = true, .deadline = std::chrono::milliseconds(100)});
    const Descriptor descriptor(ring);
    BroadcastPublisher publisher = ring.publisher();
    Children children;
    const std::size_t slow = children.start([&] {
        const BroadcastReader reader = BroadcastRing::open(descriptor.number()).reader();
        std::this_thread::sleep_for(long_enough);
    });
    await_readers(ring, 1);
    children.signal(slow, SIGSTOP);
    publisher.publish_value('a');
    publisher.publish_value('b');
    try {
        publisher.publish_value('c');
        ADD_FAILURE() << "published over an unread message";
    } catch (const Error& error) {
        const std::string name =
            "reader 0 (pid " + std::to_string(children.pid(slow)) + ", stopped) has read 0";
        EXPECT_EQ(error.code(), Errc::timeout);
        EXPECT_EQ(error.ranks(), std::vector<int>{0});
        EXPECT_NE(std::string(error.what()).find(name), std::string::npos) << error.what();
    }
    publisher.drop(0);
    publisher.publish_value('c');
    children.signal(slow, SIGKILL);
}

template <class Call>
void expect_team_broken(const Call& call) {
    try {
        call();
        ADD_FAILURE() << "a dead publisher goes on";
    } catch (const Error& error) {
        EXPECT_EQ(error.code(), Errc::team_broken) << error.what();
    }
}

TEST(BroadcastProcessTest, AReaderIsToldThatThePublisherWasKilled) {
    BroadcastRing ring({.slots = 64, .between_processes = true});
    const Descriptor descriptor(ring);
    BroadcastReader reader = ring.reader();
    Children children;
    const std::size_t victim = children.start([&] {
        BroadcastPublisher publisher = BroadcastRing::open(descriptor.number()).publisher();
        for (std::uint64_t number = 1; number <= 10; ++number) {
            publisher.publish_value(number);
        }
        std::this_thread::sleep_for(long_enough);
    });
    ASSERT_TRUE(reader.wait(long_enough));
    std::size_t taken = 0;
    while (taken < 10 && reader.wait(long_enough)) {
        taken += reader.probe([](const BroadcastMessage&) {});
    }
    EXPECT_EQ(taken, 10U);
    children.signal(victim, SIGKILL);
    try {
        static_cast<void>(reader.wait(long_enough));
        ADD_FAILURE() << "a dead publisher goes on";
    } catch (const Error& error) {
        EXPECT_EQ(error.code(), Errc::team_broken);
        EXPECT_NE(std::string(error.what())
                      .find("publisher (pid " + std::to_string(children.pid(victim))),
                  std::string::npos)
            << error.what();
    }
}

/// Each publisher is killed at any moment, and the next one goes on.
TEST(BroadcastProcessTest, APublisherFollowsOneThatWasKilled) {
    BroadcastRing ring({.message_bytes = 128, .slots = 8, .between_processes = true});
    const Descriptor descriptor(ring);
    BroadcastReader reader = ring.reader();
    std::uint64_t next = 1;
    const auto read_all = [&] {
        reader.probe([&](const BroadcastMessage& message) {
            EXPECT_EQ(message.number, next);
            for (const std::byte byte : message.bytes) {
                ASSERT_EQ(byte, static_cast<std::byte>(next)) << "whole";
            }
            ++next;
        });
    };
    const auto publish = [](BroadcastPublisher& publisher) {
        std::array<std::byte, 128> message{};
        message.fill(static_cast<std::byte>(publisher.published() + 1));
        return publisher.try_publish(message.data(), message.size());
    };
    for (int round = 0; round < 20; ++round) {
        Children children;
        const std::size_t victim = children.start([&] {
            BroadcastRing same = BroadcastRing::open(descriptor.number());
            BroadcastPublisher publisher = same.publisher();
            for (;;) {
                static_cast<void>(publish(publisher));
            }
        });
        const std::uint64_t before = reader.last();
        while (reader.last() < before + 10) {
            read_all();
        }
        EXPECT_THROW(static_cast<void>(ring.publisher()), Error) << "there is one";
        std::this_thread::sleep_for(std::chrono::microseconds(100 * round));
        children.signal(victim, SIGKILL);
        static_cast<void>(children.wait(victim));
    }
    read_all();
    expect_team_broken([&] { static_cast<void>(reader.wait(long_enough)); });
    BroadcastPublisher last = ring.publisher();
    EXPECT_EQ(last.published(), reader.last());
    EXPECT_FALSE(reader.wait(1ms)) << "no error any more";
    ASSERT_TRUE(publish(last));
    read_all();
    EXPECT_EQ(last.published(), reader.last());
    last = BroadcastPublisher();
    EXPECT_THROW(static_cast<void>(ring.publisher()), Error) << "it was closed";
}

/// Readers are killed at any moment of their life, one after the other.
TEST(BroadcastProcessTest, ReadersKilledAtAnyMomentLeaveNothingBehind) {
    BroadcastRing ring({.slots = 16, .readers = 2, .between_processes = true});
    const Descriptor descriptor(ring);
    BroadcastPublisher publisher = ring.publisher();
    std::uint64_t number = 0;
    for (int round = 0; round < 20; ++round) {
        Children children;
        const std::size_t victim = children.start([&] {
            for (;;) { // Joins, reads a little and leaves.
                BroadcastReader reader = BroadcastRing::open(descriptor.number()).reader();
                if (reader.wait(5ms)) {
                    reader.probe([](const BroadcastMessage&) {});
                }
            }
        });
        const auto end = std::chrono::steady_clock::now() + std::chrono::milliseconds(2 + round);
        while (std::chrono::steady_clock::now() < end) {
            publisher.publish_value(++number, long_enough);
        }
        children.signal(victim, SIGKILL);
        for (int message = 0; message < 40; ++message) {
            publisher.publish_value(++number, long_enough);
        }
        static_cast<void>(children.wait(victim));
    }
    static_cast<void>(publisher.take_dropped());
    EXPECT_TRUE(ring.readers().empty());
    EXPECT_EQ(publisher.published(), number);
}

TEST(BroadcastProcessTest, WhatIsNoRingAndWhatIsTheParentsIsRefused) {
    const TeamDescriptor team(2);
    try {
        static_cast<void>(BroadcastRing::open(team.number()));
        ADD_FAILURE() << "a team is no ring";
    } catch (const Error& error) {
        EXPECT_EQ(error.code(), Errc::invalid_argument);
    }
    try {
        static_cast<void>(BroadcastRing::open(0));
        ADD_FAILURE() << "the standard input is no ring";
    } catch (const Error& error) {
        EXPECT_EQ(error.code(), Errc::invalid_argument);
    }
    BroadcastRing ring({.between_processes = true});
    BroadcastPublisher publisher = ring.publisher();
    BroadcastReader reader = ring.reader();
    Children children;
    children.start([&] {
        const auto refused = [](const auto& call) {
            try {
                call();
            } catch (const Error& error) {
                return error.code() == Errc::invalid_argument;
            }
            return false;
        };
        require(refused([&] { publisher.publish_value('x'); }), "the publisher is the parent's");
        require(refused([&] { static_cast<void>(reader.at_end()); }), "the reader, too");
        require(refused([&] { auto own = ring.reader(); }), "and the ring");
        reader = {}; // Does not leave for the parent.
        publisher = {};
    });
    children.expect_all_good();
    publisher.publish_value('y');
    EXPECT_TRUE(reader.wait(long_enough));
    EXPECT_EQ(ring.readers().size(), 1U);
}

} // namespace
} // namespace corymb

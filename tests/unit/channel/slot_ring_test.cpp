// SPDX-License-Identifier: Apache-2.0
// The rings on real threads and at their edges; their orders are checked in tests/model.
#include "channel/env.hpp"
#include "channel/publication_ring.hpp"
#include "channel/slot_ring.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <cstring>
#include <memory>
#include <new>
#include <thread>
#include <vector>

namespace corymb::channel {
namespace {

/// Looks `looks` times, then gives up.
struct Impatient {
    int looks = 1;
    template <class T, class Predicate>
    bool await(const StandardEnv::Atomic<T>& word, std::memory_order order,
               const Predicate& satisfied, T& seen) const {
        for (int i = 0; i < looks; ++i) {
            seen = word.load(order);
            if (satisfied(seen)) {
                return true;
            }
            std::this_thread::yield();
        }
        return false;
    }
};

using Ring = SlotRing<StandardEnv, 56, 8, 4>;
using Sender = SlotSender<StandardEnv, Ring>;
using Receiver = SlotReceiver<StandardEnv, Ring>;

TEST(SlotRingTest, ASlotOfALineIsALine) {
    EXPECT_EQ(sizeof(Ring::Slot), cache_line_bytes);
}

using LongRing = LongSlotRing<StandardEnv, 8192, 1>;

/// A long ring in memory that is not zero.
class LongRingMemory {
public:
    explicit LongRingMemory(std::size_t slots)
        : lines_((LongRing::bytes(slots) + sizeof(Line) - 1) / sizeof(Line)) {
        std::memset(static_cast<void*>(lines_.data()), 0xee, lines_.size() * sizeof(Line));
        ring_ = new (lines_.data()) LongRing(slots);
    }
    [[nodiscard]] LongRing& ring() { return *ring_; }

private:
    struct alignas(4096) Line {
        std::byte bytes[4096];
    };
    std::vector<Line> lines_;
    LongRing* ring_;
};

/// What message `number` is made of.
std::vector<std::uint64_t> content(std::uint64_t number) {
    return std::vector<std::uint64_t>(8192 / sizeof number, number);
}

TEST(LongSlotRingTest, HoldsAsManyMessagesAsItsMakerSays) {
    for (const std::size_t slots : {1UL, 2UL, 8UL, 256UL}) {
        LongRingMemory memory(slots);
        SlotSender<StandardEnv, LongRing> sender(memory.ring());
        SlotReceiver<StandardEnv, LongRing> receiver(memory.ring());
        Impatient waiter;
        std::uint64_t word = 0;
        for (std::uint64_t lap = 0; lap < 3; ++lap) {
            for (std::uint64_t i = 0; i < slots; ++i) {
                ASSERT_TRUE(sender.send(waiter, content(lap * slots + i).data(), 8192, 0));
            }
            EXPECT_FALSE(sender.send(waiter, content(0).data(), 8192, 0)) << slots << " slots";
            for (std::uint64_t i = 0; i < slots; ++i) {
                const std::byte* const payload = receiver.receive(waiter, 8192, word);
                ASSERT_NE(payload, nullptr);
                EXPECT_EQ(std::memcmp(payload, content(lap * slots + i).data(), 8192), 0);
                receiver.release();
            }
            EXPECT_EQ(receiver.receive(waiter, 8192, word), nullptr) << slots << " slots";
        }
    }
}

TEST(LongSlotRingTest, BriefAndLongMessagesFollowEachOther) {
    LongRingMemory memory(4);
    SlotSender<StandardEnv, LongRing> sender(memory.ring());
    SlotReceiver<StandardEnv, LongRing> receiver(memory.ring());
    Impatient waiter;
    std::uint64_t number = 0;
    for (const std::size_t bytes : {0UL, 1UL, 55UL, 56UL, 57UL, 64UL, 8191UL, 8UL, 8192UL, 56UL}) {
        ++number;
        std::uint64_t word = 0;
        ASSERT_TRUE(sender.send(waiter, content(number).data(), bytes, 0));
        const std::byte* const payload = receiver.receive(waiter, bytes, word);
        ASSERT_NE(payload, nullptr);
        EXPECT_EQ(std::memcmp(payload, content(number).data(), bytes), 0) << bytes << " bytes";
        EXPECT_EQ(reinterpret_cast<std::uintptr_t>(payload) % cache_line_bytes, 0U);
        receiver.release();
    }
}

TEST(LongSlotRingTest, MessagesCrossTheWrapOfTheirNumbersBetweenThreads) {
    constexpr std::uint64_t messages = 70'000; // More than 2^16.
    LongRingMemory memory(16);
    std::jthread thread([&] {
        SlotSender<StandardEnv, LongRing> sender(memory.ring());
        Impatient waiter{1 << 30};
        for (std::uint64_t number = 0; number < messages; ++number) {
            EXPECT_TRUE(sender.send(waiter, &number, sizeof number, 0));
        }
    });
    SlotReceiver<StandardEnv, LongRing> receiver(memory.ring());
    Impatient waiter{1 << 30};
    std::uint64_t wrong = 0;
    for (std::uint64_t number = 0; number < messages; ++number) {
        std::uint64_t word = 0;
        std::uint64_t value = 0;
        std::memcpy(&value, receiver.receive(waiter, sizeof value, word), sizeof value);
        wrong += value != number ? 1 : 0;
        receiver.release();
    }
    EXPECT_EQ(wrong, 0U);
}

TEST(SlotRingTest, HoldsItsSlotsAndNoMore) {
    auto ring = std::make_unique<Ring>();
    Sender sender(*ring);
    Receiver receiver(*ring);
    Impatient now;
    for (int i = 0; i < 8; ++i) {
        EXPECT_TRUE(sender.send(now, &i, sizeof i, 0)) << i;
    }
    const int extra = 8;
    EXPECT_FALSE(sender.send(now, &extra, sizeof extra, 0)) << "the ring was full";
    std::uint64_t word = 0;
    for (int i = 0; i < 4; ++i) {
        const auto* payload = receiver.receive(now, sizeof i, word);
        ASSERT_NE(payload, nullptr);
        int got = -1;
        std::memcpy(&got, payload, sizeof got);
        EXPECT_EQ(got, i);
        EXPECT_EQ(receiver.release(), i == 3) << "credit is given every fourth message";
    }
    EXPECT_TRUE(sender.send(now, &extra, sizeof extra, 0)) << "four slots are free again";
}

TEST(SlotRingTest, CreditRidesOnTheOppositeRing) {
    auto ring = std::make_unique<Ring>();
    Sender sender(*ring);
    Receiver receiver(*ring);
    Impatient now;
    std::uint64_t word = 0;
    for (int i = 0; i < 8; ++i) {
        ASSERT_TRUE(sender.send(now, &i, sizeof i, 0));
    }
    ASSERT_NE(receiver.receive(now, sizeof(int), word), nullptr);
    EXPECT_FALSE(receiver.release()) << "no credit through the consumed line yet";
    sender.accept_credit(receiver.consumed() << 32);
    const int ninth = 8;
    EXPECT_TRUE(sender.send(now, &ninth, sizeof ninth, 0));
    sender.accept_credit(std::uint64_t{0} << 32); // Older news change nothing.
    EXPECT_FALSE(sender.send(now, &ninth, sizeof ninth, 0));
}

TEST(SlotRingTest, NothingIsReceivedBeforeItIsSent) {
    auto ring = std::make_unique<Ring>();
    Receiver receiver(*ring);
    Impatient now;
    std::uint64_t word = 0;
    EXPECT_EQ(receiver.receive(now, 8, word), nullptr);
}

TEST(SlotRingTest, StreamsInOrderBetweenThreads) {
    constexpr std::uint64_t messages = 20'000;
    auto ring = std::make_unique<Ring>();
    std::jthread producer([&] {
        Sender sender(*ring);
        Impatient patient{1 << 30};
        for (std::uint64_t i = 0; i < messages; ++i) {
            ASSERT_TRUE(sender.send(patient, &i, sizeof i, 0));
        }
    });
    Receiver receiver(*ring);
    Impatient patient{1 << 30};
    std::uint64_t word = 0, wrong = 0;
    for (std::uint64_t i = 0; i < messages; ++i) {
        std::uint64_t got = 0;
        std::memcpy(&got, receiver.receive(patient, sizeof got, word), sizeof got);
        wrong += got != i;
        receiver.release();
    }
    EXPECT_EQ(wrong, 0u);
}

TEST(PublicationRingTest, TheSlowestReaderHoldsThePublisher) {
    OwnedPublicationRing<StandardEnv, 56, 4> ring(2);
    Impatient now;
    std::uint64_t published = 0, fast = 0, slow = 0;
    const int value = 5;
    for (int i = 0; i < 4; ++i) {
        ASSERT_TRUE(ring.publish(now, &value, sizeof value, published));
    }
    for (int i = 0; i < 4; ++i) {
        ASSERT_NE(ring.read(now, sizeof value, fast), nullptr);
        ring.release(0, fast);
    }
    EXPECT_FALSE(ring.publish(now, &value, sizeof value, published)) << "reader 1 has read nothing";
    for (int i = 0; i < 2; ++i) {
        ASSERT_NE(ring.read(now, sizeof value, slow), nullptr);
        ring.release(1, slow);
    }
    EXPECT_TRUE(ring.publish(now, &value, sizeof value, published));
}

} // namespace
} // namespace corymb::channel

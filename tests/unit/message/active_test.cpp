// SPDX-License-Identifier: Apache-2.0
// Active messages and global pointers: two ranks in the hands of one thread where that suffices.
#include "limits.hpp"

#include <corymb/active_message.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <optional>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

namespace corymb {
namespace {

using namespace std::chrono_literals;

constexpr std::uint16_t twice = 1, thrower = 2, stranger = 3, counting = 4, relay = 5;

struct Pair {
    explicit Pair(std::size_t capacity = 64, std::chrono::nanoseconds deadline = test_limit())
        : group(2, {.capacity = capacity}) {
        a.emplace(group.join(0), deadline);
        b.emplace(group.join(1), deadline);
    }
    MailboxGroup group;
    std::optional<ActiveMessages> a, b;
};

template <class Call>
std::string refusal(Errc code, const Call& call) {
    try {
        call();
    } catch (const Error& error) {
        EXPECT_EQ(error.code(), code) << error.what();
        return error.what();
    }
    ADD_FAILURE() << "nothing was thrown";
    return {};
}

/// Rank 1 serves until the end of it.
class Serving {
public:
    explicit Serving(ActiveMessages& rank)
        : thread_([this, &rank] {
              while (!stop_.load(std::memory_order_relaxed)) {
                  static_cast<void>(rank.serve(1ms));
              }
          }) {}
    Serving(const Serving&) = delete;
    Serving& operator=(const Serving&) = delete;
    ~Serving() {
        stop_.store(true, std::memory_order_relaxed);
        thread_.join();
    }

private:
    std::atomic<bool> stop_{false};
    std::thread thread_;
};

TEST(ActiveMessageTest, ANegativeDeadlineIsRefused) {
    refusal(Errc::invalid_argument, [] { const Pair pair(64, -1s); });
}

TEST(ActiveMessageTest, AHandlerRunsThereAndItsAnswerComesBack) {
    Pair pair;
    pair.b->on_value<int>(twice, [](Rank from, int value) { return 2 * value + from; });
    ActiveCall call = pair.a->call_value(1, twice, 21);
    EXPECT_FALSE(call.test()) << "nobody has polled";
    EXPECT_EQ(pair.b->poll(), 1U);
    EXPECT_TRUE(call.test());
    EXPECT_EQ(call.value<int>(), 42);
    EXPECT_EQ(pair.a->bytes_max(), 40U);
    refusal(Errc::invalid_argument, [&] { call.wait(); }); // It was taken.
    // A call of its own.
    pair.a->on_value<int>(twice, [](Rank, int value) { return value; });
    EXPECT_EQ(pair.a->call_value(0, twice, 5).value<int>(), 5);
}

TEST(ActiveMessageTest, AnswersToAnEarlierHolderOfARankAreDropped) {
    Pair pair;
    pair.b->on_value<int>(twice, [](Rank, int value) { return 2 * value; });
    static_cast<void>(pair.a->call_value(1, twice, 1));
    pair.a.reset();
    pair.a.emplace(pair.group.join(0), test_limit());
    EXPECT_EQ(pair.b->poll(), 1U);
    ActiveCall call = pair.a->call_value(1, twice, 21);
    EXPECT_FALSE(call.test()) << "the answer that is there is another call's";
    EXPECT_EQ(pair.b->poll(), 1U);
    EXPECT_EQ(call.value<int>(), 42);
}

TEST(ActiveMessageTest, WhatAHandlerThrowsReachesTheCaller) {
    Pair pair;
    pair.b->on_value<int>(thrower, [](Rank, int value) {
        if (value == 0) {
            throw std::out_of_range("zero");
        }
        throw Error(Errc::io, "no disk");
    });
    auto foreign = pair.a->call_value(1, thrower, 0);
    auto own = pair.a->call_value(1, thrower, 1);
    auto wrong = pair.a->call_value(1, thrower, std::int64_t{1});
    auto unknown = pair.a->call_value(1, stranger, 1);
    EXPECT_EQ(pair.b->poll(), 4U);
    EXPECT_THROW(foreign.wait(), std::runtime_error);
    EXPECT_EQ(refusal(Errc::io, [&] { own.wait(); }), "rank 1: no disk");
    refusal(Errc::mismatch, [&] { wrong.wait(); });
    EXPECT_EQ(refusal(Errc::invalid_argument, [&] { unknown.wait(); }), "rank 1: no handler 3");
}

TEST(ActiveMessageTest, HandlersMayBeginCallsButNotWait) {
    Pair pair;
    std::optional<ActiveCall> begun;
    pair.a->on_value<int>(twice, [](Rank, int value) { return 2 * value; });
    pair.b->on_value<int>(relay, [&](Rank from, int value) {
        begun.emplace(pair.b->call_value(from, twice, value));
        begun->wait();
    });
    auto call = pair.a->call_value(1, relay, 4);
    static_cast<void>(pair.b->poll());
    refusal(Errc::invalid_argument, [&] { call.wait(); });
    static_cast<void>(pair.a->poll());
    EXPECT_EQ(begun->value<int>(), 8);
}

TEST(ActiveMessageTest, AnswersWaitForRoomInTheirOrder) {
    Pair pair(1);
    pair.b->on_value<int>(twice, [](Rank, int value) { return 2 * value; });
    const Serving serving(*pair.b);
    std::vector<ActiveCall> calls;
    for (int i = 0; i < 100; ++i) { // It polls while there is no room.
        calls.push_back(pair.a->call_value(1, twice, i));
    }
    for (int i = 0; i < 100; ++i) {
        EXPECT_EQ(calls[static_cast<std::size_t>(i)].value<int>(), 2 * i);
    }
}

TEST(ActiveMessageTest, WhoDoesNotAnswerIsNamed) {
    Pair pair;
    auto call = pair.a->call_value(1, twice, 1);
    try {
        call.wait(1ms);
        ADD_FAILURE() << "it has not answered";
    } catch (const Error& error) {
        EXPECT_EQ(error.code(), Errc::timeout);
        EXPECT_EQ(error.ranks(), std::vector<int>{1});
    }
    {
        const auto dropped = pair.a->call_value(1, twice, 1);
    }
    EXPECT_EQ(pair.b->poll(), 2U) << "a call that was thrown away is run all the same";
    refusal(Errc::invalid_argument, [&] { call.wait(); });
    pair.b.reset();
    refusal(Errc::invalid_argument, [&] { static_cast<void>(pair.a->call_value(1, twice, 1)); });
    auto late = pair.a->call_value(0, twice, 1);
    pair.a.reset();
    refusal(Errc::invalid_argument, [&] { late.wait(); });
}

TEST(ActiveMessageTest, ACallToARankThatClosesEnds) {
    Pair pair;
    pair.b->on_value<int>(twice, [](Rank, int value) { return 2 * value; });
    auto answered = pair.a->call_value(1, twice, 4);
    static_cast<void>(pair.b->poll());
    auto tested = pair.a->call_value(1, twice, 5);
    auto waited = pair.a->call_value(1, twice, 6);
    std::thread closer([&] {
        std::this_thread::sleep_for(5ms);
        pair.b.reset();
    });
    EXPECT_EQ(answered.value<int>(), 8);
    try {
        waited.wait();
        ADD_FAILURE() << "nobody answers";
    } catch (const Error& error) {
        EXPECT_EQ(error.code(), Errc::invalid_argument) << error.what();
        EXPECT_EQ(error.ranks(), std::vector<int>{1});
    }
    closer.join();
    EXPECT_TRUE(tested.test());
    refusal(Errc::invalid_argument, [&] { tested.wait(); });
}

TEST(ActiveMessageTest, AnAnswerThatWasSentBeforeTheEndArrives) {
    Pair pair;
    pair.b->on_value<int>(twice, [](Rank, int value) { return 2 * value; });
    auto call = pair.a->call_value(1, twice, 4);
    static_cast<void>(pair.b->poll());
    pair.b.reset();
    EXPECT_EQ(call.value<int>(), 8);
}

TEST(ActiveMessageTest, AnAnswerArrivesThoughAnotherCanNoLongerBeSent) {
    Pair pair(1);
    for (auto* const one : {&pair.a, &pair.b}) {
        (*one)->on_value<int>(twice, [](Rank, int value) { return 2 * value; });
    }
    auto call = pair.a->call_value(1, twice, 4);
    auto back = pair.b->call_value(0, twice, 3);
    EXPECT_EQ(pair.a->poll(), 1U) << "whose answer finds no room";
    EXPECT_EQ(pair.b->poll(), 1U);
    pair.b.reset();
    EXPECT_EQ(call.value<int>(), 8);
}

TEST(ActiveMessageTest, ALimitMayBeTheLongestThereIs) {
    constexpr auto longest = std::chrono::nanoseconds::max();
    Pair pair(1, longest);
    std::atomic<bool> done{false};
    pair.b->on_value<int>(twice, [](Rank, int value) { return 2 * value; });
    auto first = pair.a->call_value(1, twice, 1);
    std::thread late([&] {
        std::this_thread::sleep_for(20ms);
        for (std::size_t served = 0; served < 2;) {
            served += pair.b->serve(longest);
        }
        while (!done) { // The second answer may have to wait for room.
            static_cast<void>(pair.b->serve(1ms));
        }
    });
    auto second = pair.a->call_value(1, twice, 2); // Waits for room, at last asleep.
    EXPECT_EQ(first.value<int>(), 2);
    EXPECT_EQ(second.value<int>(longest), 4);
    done = true;
    late.join();
}

TEST(ActiveMessageTest, LimitsAreRefused) {
    Pair pair;
    const std::vector<std::byte> large(41);
    refusal(Errc::invalid_argument, [&] { static_cast<void>(pair.a->call(1, twice, large)); });
    refusal(Errc::invalid_argument, [&] { static_cast<void>(pair.a->call(2, twice, {})); });
    refusal(Errc::invalid_argument, [&] { pair.a->on(active_handlers_max, {}); });
    refusal(Errc::invalid_argument, [&] { ActiveCall().wait(); });
    refusal(Errc::invalid_argument, [&] {
        MailboxGroup small(1, {.message_bytes = 16});
        const ActiveMessages none(small.join(0));
    });
}

TEST(GlobalPointerTest, IsReadWrittenAndExchangedByItsOwner) {
    Pair pair;
    std::array<std::uint64_t, 4> numbers{1, 2, 3, 4};
    const GlobalPointer<std::uint64_t> first = pair.b->offer(std::span(numbers));
    const Serving serving(*pair.b);
    EXPECT_EQ(pair.a->get(first + 3), 4U);
    pair.a->put(first + 1, 20); // A number of another type will do.
    EXPECT_EQ(pair.a->compare_exchange(first + 1, 2, 9), 20U);
    EXPECT_EQ(pair.a->compare_exchange(first + 1, std::uint64_t{20}, 30), 20U);
    EXPECT_EQ(pair.a->get(first + 1), 30U);
    EXPECT_EQ(first + 2 + -2, first);
    EXPECT_LT(first, first + 1);
    EXPECT_FALSE(GlobalPointer<int>());
    EXPECT_NE(refusal(Errc::invalid_argument, [&] { pair.a->get(first + 4); }).find("range"),
              std::string::npos);
    EXPECT_NE(refusal(Errc::invalid_argument, [&] { pair.a->get(first + -1); }).find("range"),
              std::string::npos);
    const GlobalPointer<std::uint64_t> null;
    EXPECT_NE(refusal(Errc::invalid_argument, [&] { pair.a->get(null); }).find("null"),
              std::string::npos);
    refusal(Errc::invalid_argument, [&] { pair.a->put(null, 1); });
    refusal(Errc::invalid_argument, [&] { pair.a->compare_exchange(null, 1, 2); });
    refusal(Errc::invalid_argument, [&] { pair.a->withdraw(first); });
}

TEST(GlobalPointerTest, BytesAreMovedAsTheyAre) {
    Pair pair;
    std::array<std::byte, 100> memory{};
    const GlobalAddress first = pair.b->offer(std::span(memory)).address;
    const Serving serving(*pair.b);
    const std::size_t most = pair.a->put_bytes_max();
    ASSERT_EQ(most, pair.a->bytes_max() - sizeof(GlobalAddress));
    std::vector<std::byte> value(most, std::byte{7}), got(pair.a->bytes_max());
    pair.a->put_bytes(first, value);
    pair.a->get_bytes(first, got);
    EXPECT_EQ(got[most - 1], std::byte{7});
    EXPECT_EQ(got[most], std::byte{0});
    const std::span half = std::span(value).first(most / 2);
    std::vector<std::byte> other(half.size(), std::byte{8}), was(half.size());
    pair.a->compare_exchange_bytes(first, half, other, was);
    EXPECT_TRUE(std::equal(was.begin(), was.end(), half.begin()));
    EXPECT_EQ(memory[0], std::byte{8});
    pair.a->compare_exchange_bytes(first, half, half, was);
    EXPECT_EQ(was, other) << "it was not what was expected";
    value.push_back(std::byte{7});
    got.push_back(std::byte{7});
    refusal(Errc::invalid_argument, [&] { pair.a->put_bytes(first, value); });
    refusal(Errc::invalid_argument, [&] { pair.a->get_bytes(first, got); });
    refusal(Errc::invalid_argument,
            [&] { pair.a->compare_exchange_bytes(first, half, value, was); });
}

TEST(GlobalPointerTest, AnObjectIsCalledAndWithdrawn) {
    struct Counter {
        std::int64_t value = 0;
    };
    Pair pair;
    Counter counter;
    auto& owner = *pair.b;
    owner.on_object<Counter, int>(counting,
                                  [](Counter& at, Rank, int by) { return at.value += by; });
    const auto pointer = owner.offer(std::span(&counter, 1));
    auto call = pair.a->call_at(pointer, counting, 5);
    EXPECT_EQ(owner.poll(), 1U);
    EXPECT_EQ(call.value<std::int64_t>(), 5);
    EXPECT_EQ(counter.value, 5);
    owner.withdraw(pointer);
    auto after = pair.a->call_at(pointer, counting, 5);
    EXPECT_EQ(owner.poll(), 1U);
    EXPECT_NE(refusal(Errc::invalid_argument, [&] { after.wait(); }).find("withdrawn"),
              std::string::npos);
    refusal(Errc::invalid_argument, [&] { owner.withdraw(pointer); });
}

} // namespace
} // namespace corymb

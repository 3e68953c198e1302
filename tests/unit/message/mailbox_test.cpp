// SPDX-License-Identifier: Apache-2.0
// What mailboxes promise, for each protocol; from one thread, so that everything is repeatable.
#include <corymb/mailbox.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdint>
#include <numeric>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace corymb {
namespace {

using namespace std::chrono_literals;

std::vector<std::byte> bytes_of(std::size_t length, unsigned seed) {
    std::vector<std::byte> bytes(length);
    for (std::size_t i = 0; i < length; ++i) {
        bytes[i] = static_cast<std::byte>(seed * 31 + i * 7);
    }
    return bytes;
}

/// Everything that is there, as (from, value).
std::vector<std::pair<Rank, int>> ints(Mailbox& box,
                                       std::size_t most = std::numeric_limits<std::size_t>::max()) {
    std::vector<std::pair<Rank, int>> got;
    box.probe_values<int>([&](Rank from, int value) { got.emplace_back(from, value); }, most);
    return got;
}

template <class Call>
std::optional<Error> error_of(const Call& call) {
    try {
        call();
    } catch (const Error& error) {
        return error;
    }
    return std::nullopt;
}
template <class Call>
void expect_refused(const Call& call, const std::string& part, Errc code = Errc::invalid_argument) {
    const auto error = error_of(call);
    ASSERT_TRUE(error.has_value()) << "no error, but expected: " << part;
    EXPECT_EQ(error->code(), code);
    EXPECT_NE(std::string(error->what()).find(part), std::string::npos) << error->what();
}

class MailboxTest : public testing::TestWithParam<MailboxProtocol> {
protected:
    static MailboxOptions options(std::size_t capacity = 64, std::size_t message_bytes = 56) {
        MailboxOptions made;
        made.protocol = GetParam();
        made.capacity = capacity;
        made.message_bytes = message_bytes;
        return made;
    }
};

INSTANTIATE_TEST_SUITE_P(Protocols, MailboxTest,
                         testing::Values(MailboxProtocol::ring, MailboxProtocol::nvp,
                                         MailboxProtocol::srbp),
                         [](const auto& test) { return to_string(test.param); });

TEST_P(MailboxTest, EachSendersMessagesComeInOrderAndOnce) {
    MailboxGroup group(3, options());
    EXPECT_EQ(group.protocol(), GetParam());
    Mailbox a = group.join(0), b = group.join(1), c = group.join(2);
    for (int i = 0; i < 10; ++i) {
        ASSERT_TRUE(a.send_value(2, i));
        ASSERT_TRUE(b.send_value(2, 100 + i));
        ASSERT_TRUE(c.send_value(2, 200 + i)) << "to itself";
    }
    std::array<int, 3> next{0, 100, 200};
    for (const auto& [from, value] : ints(c)) {
        EXPECT_EQ(value, next.at(static_cast<std::size_t>(from))++);
    }
    EXPECT_EQ(next, (std::array{10, 110, 210}));
    EXPECT_TRUE(ints(c).empty()) << "each came once";
    EXPECT_TRUE(ints(a).empty()) << "and to nobody else";
}

TEST_P(MailboxTest, CarriesEveryLengthAndGoesRoundManyTimes) {
    constexpr std::size_t longest = 300;
    MailboxGroup group(2, options(4, longest));
    Mailbox a = group.join(0), b = group.join(1);
    for (std::size_t length = 0; length <= longest; ++length) {
        const auto sent = bytes_of(length, static_cast<unsigned>(length));
        ASSERT_TRUE(a.send(1, sent)) << length;
        std::vector<std::byte> got{std::byte{1}};
        ASSERT_EQ(b.probe([&](Rank from, std::span<const std::byte> message) {
            EXPECT_EQ(from, 0);
            got.assign(message.begin(), message.end());
        }),
                  1u);
        EXPECT_EQ(got, sent);
    }
    EXPECT_TRUE(a.send(1, nullptr, 0)) << "nothing may be at no address";
}

TEST_P(MailboxTest, ASenderThatIsAloneDelaysNobodyWhoComesLater) {
    MailboxGroup group(3, options(4));
    Mailbox a = group.join(0), b = group.join(1), c = group.join(2);
    for (int round = 0; round < 3; ++round) {
        for (int i = 0; i < 3; ++i) { // a is the only one that sends, and is found idle in between.
            ASSERT_TRUE(a.send_value(2, i));
            EXPECT_EQ(ints(c), (std::vector<std::pair<Rank, int>>{{0, i}}));
            EXPECT_TRUE(ints(c).empty());
        }
        for (int i = 0; i < 4; ++i) {
            ASSERT_TRUE(a.send_value(2, 10 + i));
        }
        ASSERT_TRUE(b.send_value(2, 20));
        // One message a probe; a fills its channel again.
        std::vector<Rank> from;
        for (int i = 0; i < 5; ++i) {
            const auto got = ints(c, 1);
            ASSERT_EQ(got.size(), 1u);
            from.push_back(got.front().first);
        }
        EXPECT_EQ(std::ranges::count(from, 1), 1);
        EXPECT_EQ(std::ranges::count(from, 0), 4);
        if (GetParam() != MailboxProtocol::srbp) { // There the order is that of sending.
            EXPECT_LE(std::ranges::find(from, 1) - from.begin(), 2);
        }
        EXPECT_FALSE(c.wait(std::chrono::nanoseconds(1))) << "nothing is left";
    }
}

TEST_P(MailboxTest, HoldsItsCapacityForEachSenderUntilTheReceiverProbes) {
    MailboxGroup group(3, options(4));
    Mailbox a = group.join(0), b = group.join(1), c = group.join(2);
    for (int lap = 0; lap < 3; ++lap) {
        for (int i = 0; i < 4; ++i) {
            EXPECT_TRUE(a.send_value(2, i));
            EXPECT_TRUE(b.send_value(2, i));
        }
        EXPECT_FALSE(a.send_value(2, 4)) << "full";
        EXPECT_FALSE(b.send_value(2, 4)) << "full";
        EXPECT_TRUE(b.send_value(0, 4)) << "another receiver's channel is not";
        EXPECT_EQ(ints(c).size(), 8u);
        EXPECT_EQ(ints(a).size(), 1u);
    }
}

TEST_P(MailboxTest, SendsAsMuchOfABatchAsThereIsRoomFor) {
    MailboxGroup group(2, options(4));
    Mailbox a = group.join(0), b = group.join(1);
    std::array<int, 6> values{};
    std::iota(values.begin(), values.end(), 0);
    std::vector<std::span<const std::byte>> batch;
    for (const int& value : values) {
        batch.push_back(std::as_bytes(std::span(&value, 1)));
    }
    EXPECT_EQ(a.send_batch(1, batch), 4u);
    EXPECT_EQ(a.send_batch(1, batch), 0u);
    EXPECT_EQ(a.send_batch(1, {}), 0u);
    EXPECT_EQ(ints(b).size(), 4u);
    EXPECT_EQ(a.send_batch(1, std::span(batch).subspan(4)), 2u);
    EXPECT_EQ(ints(b).back().second, 5);
}

TEST_P(MailboxTest, WritesInPlaceAndSendsNothingWhenThatFails) {
    MailboxGroup group(2, options(4));
    Mailbox a = group.join(0), b = group.join(1);
    const auto write = [](int value) {
        return [value](std::span<std::byte> place) {
            std::memcpy(place.data(), &value, sizeof value);
            return sizeof value;
        };
    };
    ASSERT_TRUE(a.send_in_place(1, 56, write(1)));
    EXPECT_THROW(
        static_cast<void>(a.send_in_place(
            1, 8, [](std::span<std::byte>) -> std::size_t { throw std::runtime_error("no"); })),
        std::runtime_error);
    expect_refused(
        [&] { static_cast<void>(a.send_in_place(1, 8, [](auto) -> std::size_t { return 9; })); },
        "at most 8");
    EXPECT_EQ(ints(b), (std::vector<std::pair<Rank, int>>{{0, 1}}));
    ASSERT_TRUE(a.send_in_place(1, 8, write(2)));
    EXPECT_EQ(ints(b), (std::vector<std::pair<Rank, int>>{{0, 2}}));
}

TEST_P(MailboxTest, AMessageWhoseCallbackThrowsCountsAsReceived) {
    MailboxGroup group(2, options(4));
    Mailbox a = group.join(0), b = group.join(1);
    for (int i = 0; i < 4; ++i) {
        ASSERT_TRUE(a.send_value(1, i));
    }
    EXPECT_THROW(b.probe_values<int>([](Rank, int value) {
        if (value == 1) {
            throw std::runtime_error("no");
        }
    }),
                 std::runtime_error);
    EXPECT_TRUE(a.send_value(1, 4)) << "what was received has made room";
    EXPECT_EQ(ints(b), (std::vector<std::pair<Rank, int>>{{0, 2}, {0, 3}, {0, 4}}));
}

TEST_P(MailboxTest, TakesAtMostSoManyAndNobodyTwiceInARow) {
    MailboxGroup group(70, options(4));
    Mailbox receiver = group.join(3);
    std::vector<Mailbox> senders;
    for (const Rank rank : {0, 5, 69}) {
        senders.push_back(group.join(rank));
    }
    for (int i = 0; i < 3; ++i) {
        for (Mailbox& sender : senders) {
            ASSERT_TRUE(sender.send_value(3, i));
        }
    }
    Rank last = -1;
    for (int i = 0; i < 9; ++i) {
        const auto got = ints(receiver, 1);
        ASSERT_EQ(got.size(), 1u) << i;
        EXPECT_NE(got[0].first, last);
        last = got[0].first;
    }
    EXPECT_TRUE(ints(receiver).empty());
}

TEST_P(MailboxTest, ACallbackMayAnswer) {
    MailboxGroup group(2, options());
    Mailbox a = group.join(0), b = group.join(1);
    ASSERT_TRUE(a.send_value(1, 20));
    EXPECT_EQ(b.probe_values<int>(
                  [&](Rank from, int value) { EXPECT_TRUE(b.send_value(from, value + 1)); }),
              1u);
    EXPECT_EQ(ints(a), (std::vector<std::pair<Rank, int>>{{1, 21}}));
}

TEST_P(MailboxTest, CallbacksMayNotComeBack) {
    MailboxGroup group(2, options());
    Mailbox a = group.join(0), b = group.join(1);
    for (const bool waits : {false, true}) {
        ASSERT_TRUE(a.send_value(1, 1));
        expect_refused(
            [&] {
                b.probe([&](Rank, auto) {
                    if (waits) {
                        static_cast<void>(b.wait(1ms));
                    } else {
                        static_cast<void>(ints(b));
                    }
                });
            },
            "return first");
    }
    expect_refused(
        [&] {
            static_cast<void>(a.send_in_place(1, 8, [&](auto) -> std::size_t {
                static_cast<void>(a.send_value(1, 2));
                return 0;
            }));
        },
        "return first");
    EXPECT_TRUE(a.send_value(1, 3)) << "the mailboxes are as they were";
    EXPECT_EQ(ints(b), (std::vector<std::pair<Rank, int>>{{0, 3}}));
}

TEST_P(MailboxTest, NamesWhatIsWrongWithASend) {
    MailboxGroup group(2, options());
    Mailbox a = group.join(0);
    const std::vector<std::byte> message(57);
    expect_refused([&] { static_cast<void>(a.send(1, message)); }, "message_bytes");
    expect_refused([&] { static_cast<void>(a.send(1, nullptr, 8)); }, "address");
    for (const Rank nobody : {-1, 2}) {
        expect_refused([&] { static_cast<void>(a.send_value(nobody, 1)); }, "no rank");
    }
    EXPECT_TRUE(a.send_value(1, 1)) << "who has not joined yet will find it";
    {
        Mailbox b = group.join(1);
        EXPECT_EQ(ints(b).size(), 1u);
    }
    const auto error = error_of([&] { static_cast<void>(a.send_value(1, 1)); });
    ASSERT_TRUE(error.has_value()) << "rank 1 has left";
    EXPECT_EQ(error->ranks(), std::vector{1});
    EXPECT_TRUE(a.has_left(1));
    EXPECT_FALSE(a.has_left(0));
    expect_refused([&] { static_cast<void>(a.has_left(2)); }, "no rank");
    Mailbox moved = std::move(a);
    EXPECT_TRUE(moved.send_value(0, 1));
    expect_refused([&] { static_cast<void>(a.send_value(0, 1)); }, "empty"); // NOLINT
    EXPECT_EQ(a.rank(), -1);                                                 // NOLINT
}

TEST_P(MailboxTest, ARankThatHasLeftIsTakenAgain) {
    constexpr int capacity = 4;
    MailboxGroup group(2, options(capacity));
    Mailbox a = group.join(0);
    std::optional<Mailbox> b = group.join(1);
    for (int round = 0; round < 3 * capacity; ++round) {
        EXPECT_TRUE(a.send_value(1, -1));
        EXPECT_TRUE(b->send_value(0, round));
        if (round % 2 == 0) {
            EXPECT_EQ(ints(*b), (std::vector<std::pair<Rank, int>>{{0, -1}}));
        }
        for (int i = 0; i < round % capacity; ++i) {
            EXPECT_TRUE(a.send_value(1, i) || i + 1 == capacity) << "what will not be read";
        }
        b.reset();
        if (GetParam() == MailboxProtocol::srbp) {
            expect_refused([&] { b = group.join(1); }, "once");
            return;
        }
        EXPECT_TRUE(a.has_left(1));
        b = group.join(1);
        EXPECT_FALSE(a.has_left(1));
        EXPECT_TRUE(ints(*b).empty()) << "what was sent to the one before is lost";
        for (int i = 0; i < capacity; ++i) {
            EXPECT_TRUE(a.send_value(1, 100 + i)) << "the ring is empty";
        }
        EXPECT_FALSE(a.send_value(1, 0)) << "and as long as before";
        for (const auto& [from, value] : ints(*b, 2)) {
            EXPECT_EQ(from, 0);
            EXPECT_GE(value, 100);
        }
        EXPECT_EQ(ints(*b).size(), std::size_t{capacity} - 2);
        EXPECT_TRUE(b->send_value(0, 1000 + round));
        EXPECT_EQ(ints(a), (std::vector<std::pair<Rank, int>>{{1, round}, {1, 1000 + round}}))
            << "what both have sent arrives";
    }
}

TEST_P(MailboxTest, RefusesAnotherType) {
    MailboxGroup group(2, options());
    Mailbox a = group.join(0), b = group.join(1);
    ASSERT_TRUE(a.send_value(1, 'x'));
    expect_refused([&] { static_cast<void>(ints(b)); }, "rank 0 sent 1 bytes", Errc::mismatch);
}

TEST_P(MailboxTest, WaitReturnsAtOnceOrAfterItsLimit) {
    MailboxGroup group(2, options());
    Mailbox a = group.join(0), b = group.join(1);
    EXPECT_FALSE(b.wait(0ns));
    EXPECT_FALSE(b.wait(2ms));
    ASSERT_TRUE(a.send_value(1, 1));
    EXPECT_TRUE(b.wait(0ns));
    EXPECT_TRUE(b.wait(1h));
    EXPECT_EQ(ints(b).size(), 1u);
    EXPECT_FALSE(b.wait(0ns));
}

TEST_P(MailboxTest, WaitsForRoomAtMostItsLimit) {
    MailboxGroup group(2, {.protocol = GetParam(), .capacity = 2});
    Mailbox sender = group.join(0);
    Mailbox receiver = group.join(1);
    EXPECT_TRUE(sender.wait_for_room(1, 0ns));
    for (int i = 0; i < 2; ++i) {
        EXPECT_TRUE(sender.send_value(1, i, 0ns));
    }
    const auto begin = std::chrono::steady_clock::now();
    EXPECT_FALSE(sender.wait_for_room(1, 0ns));
    EXPECT_FALSE(sender.wait_for_room(1, 30ms));
    EXPECT_FALSE(sender.send_value(1, 2, 30ms)) << "nothing was sent";
    EXPECT_GE(std::chrono::steady_clock::now() - begin, 60ms);
    EXPECT_EQ(receiver.probe([](Rank, std::span<const std::byte>) {}), 2u);
    EXPECT_TRUE(sender.wait_for_room(1, 0ns));
    EXPECT_TRUE(sender.send_value(1, 2, 0ns));
    EXPECT_THROW(static_cast<void>(sender.wait_for_room(2, 0ns)), Error);
    EXPECT_THROW(static_cast<void>(Mailbox().wait_for_room(0, 0ns)), Error);
}

TEST_P(MailboxTest, ManyMembersAreNoTrouble) {
    constexpr int members = 300;
    MailboxGroup group(members, options(2));
    std::vector<Mailbox> boxes;
    for (Rank rank = 0; rank < members; ++rank) {
        boxes.push_back(group.join(rank));
    }
    for (Rank rank = 0; rank < members; ++rank) {
        ASSERT_TRUE(boxes[static_cast<std::size_t>(rank)].send_value(7, rank));
    }
    std::vector<bool> seen(members);
    for (const auto& [from, value] : ints(boxes[7])) {
        EXPECT_EQ(from, value);
        seen[static_cast<std::size_t>(from)] = true;
    }
    EXPECT_EQ(std::count(seen.begin(), seen.end(), true), members);
    if (GetParam() != MailboxProtocol::srbp) {
        EXPECT_LT(group.memory(), std::size_t{members} * members * 64) << "only what is used";
    }
}

TEST(MailboxGroupTest, ChoosesAProtocolBySize) {
    EXPECT_EQ(MailboxGroup(4).protocol(), MailboxProtocol::ring);
    EXPECT_EQ(MailboxGroup(64).protocol(), MailboxProtocol::nvp);
    for (const char* name : {"automatic", "ring", "nvp", "srbp"}) {
        EXPECT_STREQ(to_string(mailbox_protocol(name)), name);
    }
    expect_refused([] { static_cast<void>(mailbox_protocol("sbrp")); }, "srbp", Errc::unknown_name);
}

TEST(MailboxGroupTest, RefusesWhatItCannotBe) {
    expect_refused([] { MailboxGroup(0); }, "members");
    expect_refused([] { MailboxGroup(2, {.capacity = 0}); }, "capacity");
    expect_refused([] { MailboxGroup(2, {.message_bytes = std::size_t{1} << 24}); },
                   "message_bytes");
    expect_refused(
        [] { MailboxGroup(1024, {.protocol = MailboxProtocol::srbp, .capacity = 1024}); }, "nvp");
    MailboxGroup group(2);
    expect_refused([&] { static_cast<void>(group.join(2)); }, "no rank 2");
    {
        const Mailbox box = group.join(1);
        expect_refused([&] { static_cast<void>(group.join(1)); }, "taken");
    }
    EXPECT_EQ(group.join(1).rank(), 1);
}

} // namespace
} // namespace corymb

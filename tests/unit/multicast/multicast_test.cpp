// SPDX-License-Identifier: Apache-2.0
// Groups on one thread, which polls for all its ranks: what happens is the same every time.
#include "multicast/one_thread.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <stdexcept>
#include <thread>

namespace corymb {
namespace {

using multicast_test::Ranks;
using multicast_test::settings;
using std::chrono::milliseconds;

TEST(MulticastTest, TellsMembersOnly) {
    Ranks ranks(4, {});
    ranks.join({1, 3});
    auto token = ranks.call(0);
    EXPECT_EQ(token.members(), 2);
    EXPECT_FALSE(token.test()) << "nobody has polled";
    ranks.poll_until(token);
    EXPECT_EQ(ranks.runs(), (std::vector<int>{0, 1, 0, 1}));
}

TEST(MulticastTest, AnEmptyGroupIsCompleteAtOnce) {
    Ranks ranks(3, {});
    auto token = ranks.call(1);
    EXPECT_EQ(token.members(), 0);
    EXPECT_TRUE(token.test());
    MulticastToken().wait();
}

TEST(MulticastTest, AnInitiatorThatIsAMemberRunsItInTheCall) {
    Ranks ranks(2, {});
    ranks.join({0});
    auto token = ranks.call(0);
    EXPECT_EQ(ranks.runs(), (std::vector<int>{1, 0}));
    EXPECT_EQ(token.members(), 1);
    token.wait();
}

TEST(MulticastTest, WhoLeavesServesWhatNamesIt) {
    Ranks ranks(3, {});
    ranks.join({1, 2});
    auto token = ranks.call(0);
    ranks[1].leave();
    EXPECT_EQ(ranks.runs(), (std::vector<int>{0, 1, 0}));
    ranks.poll_until(token);
    auto next = ranks.call(0);
    EXPECT_EQ(next.members(), 1);
    ranks.poll_until(next);
    EXPECT_EQ(ranks.runs(), (std::vector<int>{0, 1, 2}));
}

TEST(MulticastTest, ALeaverDoesNotWaitForWhoeverShouldTellIt) {
    // Rank 1 should tell rank 3 and never polls.
    Ranks ranks(7, settings(MulticastTopology::binary));
    ranks.join({1, 3});
    auto token = ranks.call(0);
    ranks[3].leave();
    EXPECT_EQ(ranks.runs(), (std::vector<int>{0, 0, 0, 1, 0, 0, 0}));
    ranks.poll_until(token);
}

TEST(MulticastTest, QuiescentMembersAreNotWaitedFor) {
    Ranks ranks(3, {});
    ranks.join({1, 2});
    {
        const Multicast::Quiescent safe(ranks[1]);
        auto token = ranks.call(0);
        EXPECT_EQ(token.members(), 1);
        ranks[2].poll();
        EXPECT_TRUE(token.test());
    }
    EXPECT_TRUE(ranks[1].is_member());
    auto token = ranks.call(0);
    EXPECT_EQ(token.members(), 2);
    ranks.poll_until(token);
    const Multicast::Quiescent nothing(ranks[0]);
    EXPECT_FALSE(ranks[0].is_member());
}

TEST(MulticastTest, SeveralCallsAreUnderWayAtOnce) {
    Ranks ranks(4, {});
    ranks.join({0, 1, 2, 3});
    std::vector<MulticastToken> tokens;
    for (Rank rank = 0; rank < 4; ++rank) {
        tokens.push_back(ranks.call(rank));
    }
    for (auto& token : tokens) {
        ranks.poll_until(token);
    }
    EXPECT_EQ(ranks.runs(), (std::vector<int>{4, 4, 4, 4}));
}

TEST(MulticastTest, ALateMemberIsNamed) {
    Ranks ranks(5, settings(MulticastTopology::binary));
    ranks.join({1, 3, 4});
    auto token = ranks.call(0);
    try {
        token.wait(milliseconds(2));
        FAIL() << "nobody has polled";
    } catch (const Error& error) {
        EXPECT_EQ(error.code(), Errc::timeout);
        EXPECT_EQ(error.ranks(), (std::vector<int>{1, 3, 4}));
        EXPECT_NE(std::string(error.what()).find("rank 3 has not polled for"), std::string::npos)
            << error.what();
    }
    ranks[1].poll(); // 3 and 4 were told by the initiator when 1 did not.
    ranks[4].poll();
    const auto late = token.late();
    ASSERT_EQ(late.size(), 1U);
    EXPECT_EQ(late[0].rank, 3);
    EXPECT_EQ(late[0].state, MulticastLate::State::told);
    EXPECT_GE(late[0].by, milliseconds(2));
    ranks.poll_until(token);
    token.wait();
    EXPECT_TRUE(token.late().empty());
}

TEST(MulticastTest, WhoCannotBeToldYetIsLateToo) {
    Ranks ranks(4, settings(MulticastTopology::binary));
    ranks.join({1, 3});
    auto token = ranks.call(0);
    const auto late = token.late();
    ASSERT_EQ(late.size(), 2U);
    EXPECT_EQ(late[0].state, MulticastLate::State::told);
    EXPECT_EQ(late[1].state, MulticastLate::State::untold);
    ranks.poll_until(token);
}

TEST(MulticastTest, AMonitorSeesWhatIsUnderWay) {
    MulticastGroup group(4);
    Multicast caller = group.initiator(3);
    Multicast first = group.initiator(0);
    Multicast second = group.initiator(1);
    first.join();
    second.join();
    EXPECT_TRUE(group.under_way().empty());
    auto token = caller.call([] {});
    auto other = second.call([] {});
    first.poll();
    const auto calls = group.under_way();
    ASSERT_EQ(calls.size(), 1U) << "the second's was for the first alone";
    EXPECT_EQ(calls[0].initiator, 3);
    EXPECT_EQ(calls[0].number, 1U);
    EXPECT_EQ(calls[0].members, 2);
    ASSERT_EQ(calls[0].late.size(), 1U);
    EXPECT_EQ(calls[0].late[0].rank, 1);
    EXPECT_EQ(calls[0].late[0].state, MulticastLate::State::told);
    second.poll();
    EXPECT_TRUE(group.under_way().empty()) << "also before anybody has waited";
    token.wait();
    other.wait();
    auto next = caller.call([] {});
    EXPECT_EQ(group.under_way().at(0).number, 2U);
    first.poll();
    second.poll();
    next.wait();
}

TEST(MulticastTest, AnExceptionReachesTheInitiator) {
    Ranks ranks(3, {});
    ranks.join({1, 2});
    auto token = ranks[0].call([] { throw std::runtime_error("out of order"); });
    EXPECT_EQ(ranks[1].poll(), 1);
    EXPECT_EQ(ranks[2].poll(), 1);
    EXPECT_THROW(token.wait(), std::runtime_error);
    EXPECT_THROW(token.wait(), std::runtime_error) << "as often as asked";
    auto next = ranks.call(0);
    ranks.poll_until(next);
    EXPECT_NO_THROW(next.wait()) << "the slot has forgotten it";
}

TEST(MulticastTest, ACallMustNotUseTheGroup) {
    Ranks ranks(2, {});
    ranks.join({1});
    auto token = ranks[0].call([&] { ranks[1].poll(); });
    ranks[1].poll();
    try {
        token.wait();
        FAIL() << "it was let through";
    } catch (const Error& error) {
        EXPECT_EQ(error.code(), Errc::invalid_argument);
    }
}

TEST(MulticastTest, MessagesReachTheHandlers) {
    MulticastGroup group(3);
    std::vector<int> got;
    Multicast sender = group.initiator(0);
    Multicast receiver = group.initiator(1, [&](std::span<const std::byte> message) {
        got.push_back(static_cast<int>(message.size()));
    });
    Multicast deaf = group.initiator(2);
    receiver.join();
    const std::byte message[multicast_message_bytes] = {};
    auto token = sender.send(message);
    receiver.poll();
    token.wait();
    auto empty = sender.send(std::span<const std::byte>());
    receiver.leave();
    EXPECT_EQ(got, (std::vector<int>{56, 0}));
    empty.wait();
    deaf.join();
    auto lost = sender.send(std::uint64_t{3});
    deaf.poll();
    EXPECT_THROW(lost.wait(), Error);
    EXPECT_THROW(static_cast<void>(sender.send(std::vector<std::byte>(57))), Error);
}

TEST(MulticastTest, ATokenMayBeThrownAway) {
    MulticastOptions options;
    options.calls = 1;
    Ranks ranks(2, options);
    ranks.join({1});
    static_cast<void>(ranks.call(0));
    ranks[1].poll();
    for (int i = 0; i < 3; ++i) {
        static_cast<void>(ranks.call(0));
        ranks[1].poll();
    }
    EXPECT_EQ(ranks.runs(), (std::vector<int>{0, 4}));
}

TEST(MulticastTest, SaysWhenAllSlotsAreInUse) {
    MulticastOptions options;
    options.calls = 1;
    options.deadline = milliseconds(2);
    Ranks ranks(2, options);
    ranks.join({1});
    auto token = ranks.call(0);
    try {
        static_cast<void>(ranks.call(0));
        FAIL() << "there is one slot";
    } catch (const Error& error) {
        EXPECT_EQ(error.code(), Errc::timeout);
        EXPECT_NE(std::string(error.what()).find("calls"), std::string::npos);
    }
    ranks.poll_until(token);
}

TEST(MulticastTest, TheGroupMayGoBeforeItsMembersAndCalls) {
    auto group = std::make_unique<MulticastGroup>(2);
    Multicast caller = group->initiator(0);
    auto member = std::make_unique<Multicast>(group->initiator(1));
    group.reset();
    member->join();
    int runs = 0;
    auto token = caller.call([&] { ++runs; });
    member.reset(); // Leaves, and so runs it.
    EXPECT_EQ(runs, 1);
    EXPECT_TRUE(token.test());
}

TEST(MulticastTest, ALimitMayBeTheLongestThereIs) {
    constexpr auto longest = std::chrono::nanoseconds::max();
    MulticastOptions options;
    options.deadline = longest;
    MulticastGroup group(2, options);
    Multicast caller = group.initiator(0);
    Multicast member = group.initiator(1);
    member.join();
    int runs = 0;
    std::thread asleep([&] {
        while (runs == 0) { // Its own handler counts.
            EXPECT_EQ(member.sleep(longest), 1);
        }
        member.leave();
    });
    caller.call([&] { ++runs; }).wait(longest);
    asleep.join();
    EXPECT_EQ(runs, 1);
}

TEST(MulticastTest, ARankIsAttachedOnce) {
    MulticastGroup group(2);
    EXPECT_THROW(static_cast<void>(group.initiator(2)), Error);
    EXPECT_THROW(static_cast<void>(group.initiator(-1)), Error);
    {
        const Multicast first = group.initiator(1);
        EXPECT_THROW(static_cast<void>(group.initiator(1)), Error);
    }
    Multicast again = group.initiator(1);
    again.join();
    EXPECT_EQ(group.members(), 1);
    EXPECT_EQ(group.size(), 2);
    EXPECT_EQ(again.rank(), 1);
}

TEST(MulticastTest, RefusesOptionsThatDoNotFit) {
    EXPECT_THROW(MulticastGroup(0), Error);
    MulticastOptions options;
    options.calls = 65;
    EXPECT_THROW(MulticastGroup(2, options), Error);
    options = {};
    options.fan_out = 0;
    EXPECT_THROW(MulticastGroup(2, options), Error);
    options = {};
    options.deadline = milliseconds(-1);
    EXPECT_THROW(MulticastGroup(2, options), Error);
    options = settings(MulticastTopology::tree);
    EXPECT_THROW(MulticastGroup(2, options), Error) << "there is no plan";
    MulticastGroup group(2);
    EXPECT_THROW(static_cast<void>(group.initiator(0).call(nullptr)), Error);
}

} // namespace
} // namespace corymb

// SPDX-License-Identifier: Apache-2.0
// What trace_process finds of the groups that this process has made.
#include "limits.hpp"

#include <corymb/broadcast_ring.hpp>
#include <corymb/mailbox.hpp>
#include <corymb/multicast.hpp>
#include <corymb/process.hpp>
#include <corymb/trace.hpp>

#include <gtest/gtest.h>

#include <chrono>
#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <unistd.h>
#include <vector>

namespace corymb {
namespace {

using std::chrono_literals::operator""s;

std::vector<TracedGroup> groups_of_kind(const std::string& kind) {
    std::vector<TracedGroup> found = trace_process(::getpid());
    std::erase_if(found, [&kind](const TracedGroup& group) { return group.kind != kind; });
    return found;
}

TEST(Trace, ShowsMembersAndCallsOfAMulticastGroup) {
    MulticastOptions options;
    options.between_processes = true;
    MulticastGroup group(3, options);
    Multicast member = group.initiator(1);
    Multicast away = group.initiator(2);
    member.join();
    const auto before = groups_of_kind("multicast");
    ASSERT_EQ(before.size(), 1u);
    EXPECT_EQ(before[0].size, 3);
    EXPECT_TRUE(before[0].calls.empty());
    ASSERT_EQ(before[0].members.size(), 2u);
    EXPECT_EQ(before[0].members[0].rank, 1);
    EXPECT_EQ(before[0].members[0].pid, ::getpid());
    EXPECT_EQ(before[0].members[0].state, "polling");
    EXPECT_EQ(before[0].members[0].process, "running");
    EXPECT_EQ(before[0].members[1].state, "quiescent");

    int got = 0;
    member.on(
        7, [&got](std::span<const std::byte> message) { got = static_cast<int>(message.size()); });
    MulticastToken token = away.send(std::vector<std::byte>(3), 7);
    const auto during = groups_of_kind("multicast");
    ASSERT_EQ(during.size(), 1u);
    EXPECT_EQ(during[0].id, before[0].id);
    EXPECT_EQ(during[0].sequence, before[0].sequence + 1);
    ASSERT_EQ(during[0].calls.size(), 1u);
    EXPECT_EQ(during[0].calls[0].initiator, 2);
    ASSERT_EQ(during[0].calls[0].late.size(), 1u);
    EXPECT_EQ(during[0].calls[0].late[0].rank, 1);
    EXPECT_EQ(during[0].members[0].behind, 1u);
    member.poll();
    token.wait(test_limit());
    EXPECT_EQ(got, 3);
    EXPECT_TRUE(groups_of_kind("multicast").at(0).calls.empty());
    member.leave();
}

TEST(Trace, ShowsReadersOfABroadcastRing) {
    BroadcastOptions options;
    options.between_processes = true;
    BroadcastRing ring(options);
    BroadcastPublisher publisher = ring.publisher();
    const BroadcastReader reader = ring.reader(BroadcastPolicy::drop);
    const std::uint64_t value = 5;
    for (int i = 0; i < 3; ++i) {
        publisher.publish(&value, sizeof value);
    }
    const auto found = groups_of_kind("broadcast");
    ASSERT_EQ(found.size(), 1u);
    EXPECT_EQ(found[0].sequence, 3u);
    ASSERT_EQ(found[0].members.size(), 2u);
    EXPECT_EQ(found[0].members[0].rank, -1);
    EXPECT_EQ(found[0].members[0].state, "publishing");
    EXPECT_EQ(found[0].members[1].rank, reader.number());
    EXPECT_EQ(found[0].members[1].state, "drop");
    EXPECT_EQ(found[0].members[1].behind, 3u);
}

TEST(Trace, ShowsWhatWaitsInMailboxes) {
    for (const MailboxProtocol protocol :
         {MailboxProtocol::ring, MailboxProtocol::nvp, MailboxProtocol::srbp}) {
        MailboxOptions options;
        options.protocol = protocol;
        options.between_processes = true;
        MailboxGroup group(2, options);
        Mailbox zero = group.join(0);
        const Mailbox one = group.join(1);
        ASSERT_TRUE(zero.send_value(1, 3));
        ASSERT_TRUE(zero.send_value(1, 4));
        const auto found = groups_of_kind("mailboxes");
        ASSERT_EQ(found.size(), 1u) << to_string(protocol);
        ASSERT_EQ(found[0].members.size(), 2u);
        EXPECT_EQ(found[0].members[1].state, "open");
        EXPECT_EQ(found[0].members[1].behind, 2u) << to_string(protocol);
        EXPECT_EQ(found[0].members[0].behind, 0u);
    }
}

TEST(Trace, NamesATeamAndForgetsWhatIsGone) {
    const int descriptor = make_team_descriptor(2);
    EXPECT_EQ(groups_of_kind("team").size(), 1u);
    ::close(descriptor);
    EXPECT_TRUE(trace_process(::getpid()).empty());
}

TEST(Trace, RefusesAProcessThatIsNot) {
    for (const int pid : {0, -3, std::numeric_limits<int>::max()}) {
        try {
            static_cast<void>(trace_process(pid));
            FAIL() << pid;
        } catch (const Error& error) {
            EXPECT_EQ(error.code(), Errc::invalid_argument);
            EXPECT_NE(std::string(error.what()).find("there is no process"), std::string::npos);
        }
    }
}

} // namespace
} // namespace corymb

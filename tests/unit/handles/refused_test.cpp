// SPDX-License-Identifier: Apache-2.0
// No call of an empty handle, or of one that a forked child has inherited, does anything.
#include "handles/world.hpp"

#include <gtest/gtest.h>

#include <cstdio>
#include <sys/wait.h>
#include <unistd.h>

namespace corymb::handles {

namespace {

bool may_be_empty(Kind kind) {
    return kind == Kind::asks || kind == Kind::acts_if_any || kind == Kind::any_thread_if_any;
}

template <class Handle>
void expect_refused_when_empty(const Calls<Handle>& calls, Handle& empty) {
    for (const auto& call : calls) {
        const std::string said = outcome(call, empty);
        if (!may_be_empty(call.kind)) {
            EXPECT_TRUE(has(said, "empty")) << call.name << ": " << said;
        } else {
            EXPECT_EQ(said, "nothing") << call.name;
        }
    }
}

template <class Handle>
void expect_refused_when_moved_from(const Calls<Handle>& calls, Handle& from) {
    const Handle to = std::move(from);
    expect_refused_when_empty(calls, from); // NOLINT(bugprone-use-after-move)
}

TEST(EmptyHandle, OfATeamIsRefused) {
    Teams teams;
    expect_refused_when_moved_from(request_calls(), teams.request);
    expect_refused_when_moved_from(team_calls(), teams.one);
    Team none;
    expect_refused_when_empty(team_calls(), none);
    Request no_request;
    expect_refused_when_empty(request_calls(), no_request);
    expect_refused_when_moved_from(thread_team_calls(), teams.group);
    TeamsOverNodes wide;
    expect_refused_when_moved_from(team_calls(), wide.one);
}

TEST(EmptyHandle, OfMessagesIsRefused) {
    Boxes boxes;
    expect_refused_when_moved_from(mailbox_calls(), boxes.one);
    expect_refused_when_moved_from(mailbox_group_calls(), boxes.group);
    Ends ends;
    expect_refused_when_moved_from(publisher_calls(), ends.publisher);
    expect_refused_when_moved_from(reader_calls(), ends.reader);
    expect_refused_when_moved_from(ring_calls(), ends.ring);
}

TEST(EmptyHandle, OfMulticastIsRefused) {
    Places places;
    expect_refused_when_moved_from(token_calls(), places.token);
    expect_refused_when_moved_from(multicast_calls(), places.one);
    expect_refused_when_moved_from(multicast_group_calls(), places.group);
}

TEST(EmptyHandle, OfASchedulerIsRefused) {
    Scheduler scheduler;
    expect_refused_when_moved_from(scheduler_calls(), scheduler);
    RemoteGroup group(2);
    RemoteRank rank = group.join(0);
    expect_refused_when_moved_from(remote_rank_calls(), rank);
    expect_refused_when_moved_from(remote_group_calls(), group);
    Named named;
    expect_refused_when_moved_from(named_call_calls(), named.call);
    expect_refused_when_moved_from(named_reply_calls(), named.reply);
}

/// In a forked child; how many calls were not refused.
template <class Handle>
int count_let_through(const Calls<Handle>& calls, Handle& inherited) {
    int count = 0;
    for (const auto& call : calls) {
        if (call.kind == Kind::looks || call.kind == Kind::asks) {
            static_cast<void>(outcome(call, inherited));
        } else if (const std::string said = outcome(call, inherited); !has(said, "parent")) {
            std::fprintf(stderr, "in a forked child %s: %s\n", call.name, said.c_str());
            ++count;
        }
    }
    return count;
}

template <class Body>
void expect_refused_in_child(const Body& body) {
    const pid_t child = ::fork();
    if (child == 0) {
        ::alarm(60);
        ::_exit(body() == 0 ? 0 : 1);
    }
    int status = 0;
    ASSERT_EQ(::waitpid(child, &status, 0), child);
    EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << status;
}

TEST(InheritedHandle, OfATeamIsRefused) {
    Teams teams;
    expect_refused_in_child([&] {
        const int let_through = count_let_through(request_calls(), teams.request) +
                                count_let_through(team_calls(), teams.one) +
                                count_let_through(thread_team_calls(), teams.group);
        teams.one = Team(); // Dropping is allowed, and does nothing in the parent's name.
        teams.request = Request();
        return let_through;
    });
    Request others = teams.other.barrier_init(); // The parent's own goes on as if nothing was.
    teams.request.start();
    others.start();
    for (bool one = false, other = false; !one || !other;) {
        one = one || teams.request.test();
        other = other || others.test();
    }
}

TEST(InheritedHandle, OfProcessesIsRefused) {
    AttachOptions options;
    options.descriptor = make_team_descriptor(2);
    options.ranks_here = 2;
    ProcessTeam group(options);
    ::close(options.descriptor);
    Team one = group.join(0);
    expect_refused_in_child([&] {
        return count_let_through(process_team_calls(), group) +
               count_let_through(team_calls(), one);
    });
}

TEST(InheritedHandle, OfSeveralNodesIsRefused) {
    TeamsOverNodes teams;
    expect_refused_in_child([&] {
        const int let_through = count_let_through(team_calls(), teams.one);
        const Team dropped = std::move(teams.one);
        return let_through;
    });
}

TEST(InheritedHandle, OfMessagesIsRefused) {
    Boxes boxes;
    Ends ends;
    expect_refused_in_child([&] {
        return count_let_through(mailbox_calls(), boxes.one) +
               count_let_through(mailbox_group_calls(), boxes.group) +
               count_let_through(publisher_calls(), ends.publisher) +
               count_let_through(reader_calls(), ends.reader) +
               count_let_through(ring_calls(), ends.ring);
    });
    EXPECT_FALSE(boxes.other.has_left(0));
}

/// Whether an object that takes over a handle refuses it because it is a parent process's.
template <class Make>
int is_made(const Make& make) {
    try {
        make();
        std::fprintf(stderr, "a forked child has taken over a handle\n");
        return 1;
    } catch (const Error& error) {
        return has(error.what(), "parent") ? 0 : 1;
    }
}

TEST(InheritedHandle, IsNotTakenOver) {
    Boxes boxes;
    ThreadTeam group(1);
    Team local = group.join(0);
    expect_refused_in_child([&] {
        ClusterOptions options;
        options.node_of_rank = {0};
        NoCarrier carrier;
        return is_made([&] { const Team taken = over_nodes(std::move(local), carrier, options); });
    });
    EXPECT_FALSE(boxes.other.has_left(0));
    local.barrier();
}

TEST(InheritedHandle, OfASchedulerIsRefused) {
    Scheduler scheduler;
    RemoteGroup group(2);
    RemoteRank rank = group.join(0);
    expect_refused_in_child([&] {
        return count_let_through(scheduler_calls(), scheduler) +
               count_let_through(remote_rank_calls(), rank) +
               count_let_through(remote_group_calls(), group);
    });
    Named named;
    expect_refused_in_child([&] {
        const int let_through = count_let_through(named_call_calls(), named.call) +
                                count_let_through(named_reply_calls(), named.reply);
        named.call = NamedCall(); // Dropping does nothing in the parent's name.
        named.reply = NamedReply();
        return let_through;
    });
    EXPECT_FALSE(named.reply.stop_token().stop_requested());
    named.reply.answer({});
    EXPECT_TRUE(named.call.wait(std::chrono::minutes(1)).empty());
}

TEST(InheritedHandle, OfMulticastIsRefused) {
    Places places;
    int ran = 0;
    const MulticastToken counted = places.one.call([&ran] { ++ran; });
    ran = 0; // This rank is a member, too.
    expect_refused_in_child([&] {
        const int let_through = count_let_through(token_calls(), places.token) +
                                count_let_through(multicast_calls(), places.other) +
                                count_let_through(multicast_group_calls(), places.group);
        const Multicast dropped = std::move(places.other);
        return let_through;
    });
    EXPECT_EQ(places.other.poll(), 2);
    EXPECT_EQ(ran, 1);
}

} // namespace

} // namespace corymb::handles

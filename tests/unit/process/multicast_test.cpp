// SPDX-License-Identifier: Apache-2.0
// Acknowledged multicast among processes: what is promised, and what is told of members that are
// killed. multicast_storm_test.cpp kills them anywhere.
#include "children.hpp"
#include "limits.hpp"
#include "multicast_children.hpp"
#include "team/sample_plans.hpp"

#include <corymb/mailbox.hpp>
#include <corymb/multicast.hpp>

#include <atomic>
#include <string>

namespace corymb {
namespace {

using namespace process_test;

const auto long_enough = test_limit();

struct Counts {
    std::atomic<int> ready;
    std::atomic<int> runs;
    std::atomic<bool> stop;
};

template <class Done>
void poll_until(Multicast& own, const Done& done) {
    const auto end = std::chrono::steady_clock::now() + long_enough;
    while (!done()) {
        own.sleep(1ms);
        require(std::chrono::steady_clock::now() < end, "it ends");
    }
}

void wait_for(const std::atomic<int>& value, int least) {
    const auto end = std::chrono::steady_clock::now() + long_enough;
    while (value.load(std::memory_order_acquire) < least) {
        std::this_thread::sleep_for(100us);
        require(std::chrono::steady_clock::now() < end, "it comes");
    }
}

/// A member that counts what it runs until it is told to stop.
std::function<void()> member(const Descriptor& group, Rank rank, Counts& counts) {
    return [&group, rank, &counts] {
        MulticastGroup here = open(group);
        Multicast own = here.initiator(rank, [&](auto) { ++counts.runs; });
        own.join();
        ++counts.ready;
        poll_until(own, [&] { return counts.stop.load(std::memory_order_acquire); });
        own.leave();
    };
}

/// One that is there and does not poll.
std::function<void()> idler(const Descriptor& group, Rank rank, Counts& counts) {
    return [&group, rank, &counts] {
        MulticastGroup here = open(group);
        Multicast own = here.initiator(rank);
        own.join();
        ++counts.ready;
        std::this_thread::sleep_for(long_enough);
    };
}

/// A group and its children.
struct Scene {
    MulticastGroup group;
    Descriptor descriptor{group};
    InCommon<Counts> counts;
    Children children;

    explicit Scene(int size, const MulticastOptions& options) : group(size, options) {}
    Scene(int size, MulticastTopology topology) : Scene(size, between_processes(topology)) {}
    std::size_t start_member(Rank rank) {
        return children.start(member(descriptor, rank, *counts));
    }
    std::size_t start_idler(Rank rank) { return children.start(idler(descriptor, rank, *counts)); }
    void await(int ready) const { wait_for(counts->ready, ready); }
    /// Ends the members.
    void end() {
        counts->stop = true;
        children.expect_all_good();
    }
};

/// What an error says; empty when there is none of that code.
template <class Call>
std::string text_of(Errc code, const Call& call) {
    try {
        call();
    } catch (const Error& error) {
        EXPECT_EQ(error.code(), code) << error.what();
        return error.what();
    }
    return {};
}

void expect_holds(const std::string& text, const std::string& part) {
    EXPECT_NE(text.find(part), std::string::npos) << part << " in: " << text;
}

TEST(MulticastProcessTest, EveryMemberRunsAMessageOnce) {
    Scene scene(4, MulticastTopology::split);
    for (Rank rank = 1; rank < 4; ++rank) {
        scene.start_member(rank);
    }
    scene.await(3);
    EXPECT_EQ(scene.group.members(), 3);
    Multicast own = scene.group.initiator(0);
    for (int call = 1; call <= 200; ++call) {
        auto token = own.send(call);
        token.wait(long_enough);
        ASSERT_EQ(token.members(), 3);
        ASSERT_EQ(scene.counts->runs.load(), 3 * call);
    }
    scene.end();
    EXPECT_EQ(scene.group.members(), 0);
}

TEST(MulticastProcessTest, AKilledMemberIsNamedAndTheGroupGoesOn) {
    using enum MulticastAcknowledgement;
    for (const auto& [topology, acknowledgement] : {std::pair{MulticastTopology::flat, counters},
                                                    {MulticastTopology::binary, counters},
                                                    {MulticastTopology::binary, messages},
                                                    {MulticastTopology::flat, gather}}) {
        MulticastOptions options = between_processes(topology);
        options.acknowledgement = acknowledgement;
        if (acknowledgement == gather) { // Rank 3 below rank 2 below rank 1.
            options.gather = team_test::chain_reduce(4, 8, Mechanism::line);
        }
        Scene scene(4, options);
        const std::size_t victim = scene.start_idler(1);
        scene.start_member(3); // Below rank 1 in the tree.
        scene.await(2);
        Multicast own = scene.group.initiator(0);
        auto token = own.send(1);
        const std::string late = text_of(Errc::timeout, [&] { token.wait(20ms); });
        expect_holds(late, "rank 1 (pid " + std::to_string(scene.children.pid(victim)));
        const pid_t pid = scene.children.pid(victim);
        scene.children.signal(victim, SIGKILL);
        try {
            token.wait(long_enough);
            ADD_FAILURE() << "rank 1 is not missed";
        } catch (const Error& error) {
            EXPECT_EQ(error.code(), Errc::team_broken);
            EXPECT_EQ(error.ranks(), std::vector<int>{1});
            expect_holds(error.what(), "rank 1 (pid " + std::to_string(pid) + ") has ended");
        }
        EXPECT_EQ(scene.counts->runs.load(), 1) << "the other one has run it";
        EXPECT_EQ(scene.group.members(), 1);
        own.send(2).wait(long_enough);
        EXPECT_EQ(scene.counts->runs.load(), 2) << "nobody waits for the dead one any more";
        scene.start_member(1); // Its place is free.
        scene.await(3);
        auto again = own.send(3);
        again.wait(long_enough);
        EXPECT_EQ(again.members(), 2);
        scene.counts->stop = true;
        static_cast<void>(scene.children.wait(victim));
        scene.children.expect_all_good();
    }
}

TEST(MulticastProcessTest, TestEndsAsWellWhenAMemberIsKilled) {
    Scene scene(2, MulticastTopology::flat);
    const std::size_t victim = scene.start_idler(1);
    scene.await(1);
    Multicast own = scene.group.initiator(0);
    auto token = own.send(1);
    EXPECT_FALSE(token.test());
    scene.children.signal(victim, SIGKILL);
    poll_until(own, [&] { return token.test(); });
    EXPECT_FALSE(text_of(Errc::team_broken, [&] { token.wait(); }).empty());
    static_cast<void>(scene.children.wait(victim));
}

TEST(MulticastProcessTest, AStoppedMemberIsLateUntilItGoesOn) {
    Scene scene(2, MulticastTopology::flat);
    const std::size_t child = scene.start_member(1);
    scene.await(1);
    scene.children.signal(child, SIGSTOP);
    int status = 0;
    ASSERT_EQ(::waitpid(scene.children.pid(child), &status, WUNTRACED), scene.children.pid(child));
    Multicast own = scene.group.initiator(0);
    auto token = own.send(1);
    expect_holds(text_of(Errc::timeout, [&] { token.wait(30ms); }), ", stopped)");
    const auto calls = scene.group.under_way();
    ASSERT_EQ(calls.size(), 1U);
    ASSERT_EQ(calls[0].late.size(), 1U);
    EXPECT_EQ(calls[0].late[0].pid, scene.children.pid(child));
    scene.children.signal(child, SIGCONT);
    token.wait(long_enough);
    scene.end();
}

TEST(MulticastProcessTest, TheCallOfAKilledInitiatorEndsAndItsSlotIsFree) {
    MulticastOptions options = between_processes(MulticastTopology::split);
    options.calls = 1;
    Scene scene(4, options);
    scene.start_member(2);
    scene.start_member(3);
    scene.await(2);
    Multicast own = scene.group.initiator(0);
    for (int round = 1; round <= 5; ++round) {
        const std::size_t victim = scene.children.start([&] {
            MulticastGroup here = open(scene.descriptor);
            Multicast caller = here.initiator(1);
            const auto token = caller.send(1);
            ::kill(::getpid(), SIGKILL);
        });
        EXPECT_TRUE(WIFSIGNALED(scene.children.wait(victim)));
        own.send(2).wait(long_enough);
        EXPECT_EQ(scene.counts->runs.load(), 4 * round);
    }
    scene.end();
}

TEST(MulticastProcessTest, AnExceptionIsToldWithItsTextAndPlace) {
    Scene scene(2, MulticastTopology::flat);
    const std::size_t child = scene.children.start([&] {
        MulticastGroup here = open(scene.descriptor);
        Multicast own = here.initiator(1, [](auto) { throw std::runtime_error("no more paper"); });
        own.on(7, [](auto) { throw Error(Errc::io, "no more ink"); });
        own.join();
        ++scene.counts->ready;
        poll_until(own, [&] { return scene.counts->stop.load(std::memory_order_acquire); });
        own.leave();
    });
    scene.await(1);
    const std::string who = "rank 1 (pid " + std::to_string(scene.children.pid(child));
    Multicast own = scene.group.initiator(0);
    try {
        own.send(1).wait(long_enough);
        ADD_FAILURE() << "no exception";
    } catch (const std::runtime_error& error) {
        expect_holds(error.what(), who);
        expect_holds(error.what(), "no more paper");
    }
    expect_holds(text_of(Errc::io, [&] { own.send(1, 7).wait(long_enough); }), "no more ink");
    expect_holds(text_of(Errc::invalid_argument, [&] { own.send(1, 8).wait(long_enough); }),
                 "has no handler 8");
    scene.end();
}

TEST(MulticastProcessTest, WhatCannotBeIsRefused) {
    MulticastGroup group(3, between_processes(MulticastTopology::flat));
    const Descriptor descriptor(group);
    Multicast own = group.initiator(0);
    const auto refused = [](const auto& call) {
        return !text_of(Errc::invalid_argument, call).empty();
    };
    EXPECT_TRUE(refused([&] { static_cast<void>(own.call([] {})); })) << "a function";
    EXPECT_TRUE(refused([&] { own.on(1, {}); })) << "no handler";
    const std::byte bytes[multicast_message_bytes + 1] = {};
    EXPECT_TRUE(refused([&] { static_cast<void>(own.send(bytes)); })) << "too long";
    MulticastGroup there = open(descriptor);
    expect_holds(text_of(Errc::invalid_argument, [&] { static_cast<void>(there.initiator(0)); }),
                 "taken already by process " + std::to_string(::getpid()));
    const MulticastGroup threads(2);
    EXPECT_TRUE(refused([&] { static_cast<void>(threads.make_descriptor()); }));
    const MailboxGroup mailboxes(2, {.between_processes = true});
    const int other = mailboxes.make_descriptor();
    EXPECT_TRUE(refused([&] { static_cast<void>(MulticastGroup::open(other)); }));
    ::close(other);
    Children children;
    children.start([&] {
        require(refused([&] { static_cast<void>(group.initiator(1)); }), "the parent's group");
        require(refused([&] { own.join(); }), "the parent's place");
        require(refused([&] { static_cast<void>(own.send(1)); }), "the parent's place");
    });
    children.expect_all_good();
}

TEST(MulticastProcessTest, TheMakerMayGoBeforeTheOthers) {
    const InCommon<Counts> counts;
    Children children;
    {
        MulticastGroup group(3, between_processes(MulticastTopology::flat));
        const Descriptor descriptor(group);
        children.start(member(descriptor, 1, *counts));
        children.start([&] {
            MulticastGroup here = open(descriptor);
            Multicast own = here.initiator(2);
            ++counts->ready;
            wait_for(counts->ready, 3);
            own.send(1).wait(long_enough);
            counts->stop = true;
        });
        wait_for(counts->ready, 2);
    }
    ++counts->ready;
    children.expect_all_good();
    EXPECT_EQ(counts->runs.load(), 1);
}

TEST(MulticastProcessTest, ThousandsOfMembersOfOneProcess) {
    constexpr Rank size = 2000;
    MulticastOptions options = between_processes(MulticastTopology::split);
    options.calls = 1;
    MulticastGroup group(size, options);
    int runs = 0;
    std::vector<Multicast> members;
    for (Rank rank = 0; rank < size; ++rank) {
        members.push_back(group.initiator(rank, [&](auto) { ++runs; }));
        members.back().join();
    }
    auto token = members[0].send(1);
    EXPECT_EQ(token.members(), size);
    for (int round = 0; round < 20 && runs < size; ++round) {
        for (Multicast& one : members) {
            one.poll();
        }
    }
    EXPECT_TRUE(token.test());
    EXPECT_EQ(runs, size);
}

} // namespace
} // namespace corymb

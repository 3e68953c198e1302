// SPDX-License-Identifier: Apache-2.0
// Groups that processes meet in by name.
#include "children.hpp"
#include "limits.hpp"

#include <corymb/broadcast_ring.hpp>
#include <corymb/mailbox.hpp>
#include <corymb/multicast.hpp>

#include <cstdint>
#include <string>

namespace corymb {
namespace {

using namespace process_test;

const auto long_enough = test_limit();

std::string name_for(const char* what) {
    return "corymb-test-" + std::to_string(::getpid()) + "-" + what;
}

template <class Call>
void expect_refusal(const Call& call, const std::string& text) {
    try {
        call();
        ADD_FAILURE() << "expected: " << text;
    } catch (const Error& error) {
        EXPECT_EQ(error.code(), Errc::invalid_argument) << error.what();
        EXPECT_NE(std::string(error.what()).find(text), std::string::npos) << error.what();
    }
}

TEST(NamesTest, MailboxesMeet) {
    const std::string name = name_for("mail");
    const MailboxOptions options{.name = name};
    MailboxGroup group(2, options);
    Children children;
    const std::size_t child = children.start([&] {
        Mailbox own = MailboxGroup(2, options).join(1);
        require(own.send_value(0, std::uint64_t{7}), "room");
        require(own.wait(long_enough), "the answer");
    });
    Mailbox own = group.join(0);
    ASSERT_TRUE(own.wait(long_enough));
    EXPECT_EQ(own.probe_values<std::uint64_t>([](Rank, auto) {}), 1U);
    EXPECT_TRUE(own.send_value(1, std::uint64_t{8}));
    EXPECT_EQ(children.wait(child), 0);
    expect_refusal([&] { MailboxGroup(3, options); }, "has 2 ranks, this process says 3");
    expect_refusal([&] { BroadcastRing({.name = name}); },
                   "that of a group of mailboxes, and this process wants a broadcast ring");
}

TEST(NamesTest, RingsMeetWithTheOptionsOfTheFirst) {
    const std::string name = name_for("ring");
    BroadcastRing ring({.message_bytes = 8, .name = name});
    BroadcastPublisher publisher = ring.publisher();
    Children children;
    const std::size_t child = children.start([&] {
        BroadcastRing same({.message_bytes = 100, .name = name});
        BroadcastReader reader = same.reader();
        require(same.readers().size() == 1, "one reader");
        require(reader.wait(long_enough), "a message");
        require(reader.probe([](const BroadcastMessage&) {}) == 1, "one message");
    });
    while (ring.readers().empty()) {
        std::this_thread::sleep_for(1ms);
    }
    expect_refusal([&] { publisher.publish("123456789", 9); }, "longer than this ring carries");
    publisher.publish_value(std::uint64_t{1});
    EXPECT_EQ(children.wait(child), 0);
}

TEST(NamesTest, MulticastGroupsMeet) {
    MulticastOptions options;
    const std::string name = name_for("multicast");
    options.name = name;
    MulticastGroup group(2, options);
    Multicast own = group.initiator(0);
    Children children;
    const std::size_t child = children.start([&] {
        int calls = 0;
        Multicast member = MulticastGroup(2, options).join(1, [&](auto) { ++calls; });
        const auto end = std::chrono::steady_clock::now() + long_enough;
        while (calls == 0) {
            require(std::chrono::steady_clock::now() < end, "a call");
            member.sleep(10ms);
        }
    });
    while (group.members() == 0) {
        std::this_thread::sleep_for(1ms);
    }
    own.send(std::uint64_t{1}).wait(long_enough);
    EXPECT_EQ(children.wait(child), 0);
}

/// A process that holds a ring, and maybe its publisher, until it is killed. Returns when it does.
std::size_t start_holder(Children& children, const BroadcastOptions& options, bool publishes) {
    int ready[2];
    require(::pipe(ready) == 0, "a pipe");
    const std::size_t holder = children.start([&] {
        BroadcastRing ring(options);
        const BroadcastPublisher publisher = publishes ? ring.publisher() : BroadcastPublisher();
        require(::write(ready[1], "r", 1) == 1, "told");
        std::this_thread::sleep_for(long_enough);
    });
    char token = 0;
    EXPECT_EQ(::read(ready[0], &token, 1), 1);
    ::close(ready[0]);
    ::close(ready[1]);
    return holder;
}

TEST(NamesTest, ANameIsFreeWhenItsHolderIsKilledOrHasGone) {
    const std::string name = name_for("free");
    const BroadcastOptions options{.name = name};
    Children children;
    const std::size_t holder = start_holder(children, options, true);
    EXPECT_THROW(static_cast<void>(BroadcastRing(options).publisher()), Error) << "it has one";
    children.signal(holder, SIGKILL);
    static_cast<void>(children.wait(holder));
    {
        BroadcastRing next(options);
        EXPECT_NO_THROW(static_cast<void>(next.publisher())) << "a new ring";
        EXPECT_THROW(static_cast<void>(BroadcastRing(options).publisher()), Error) << "the same";
    }
    EXPECT_NO_THROW(static_cast<void>(BroadcastRing(options).publisher())) << "a new one again";
}

TEST(NamesTest, ANameOutlivesTheProcessThatMadeTheGroup) {
    const std::string name = name_for("handed-on");
    const BroadcastOptions options{.name = name};
    Children children;
    const std::size_t maker = start_holder(children, options, false);
    BroadcastRing ring(options);
    const BroadcastPublisher publisher = ring.publisher();
    children.signal(maker, SIGKILL);
    static_cast<void>(children.wait(maker));
    const std::size_t late = children.start([&] {
        BroadcastRing same(options);
        require(same.reader(BroadcastPolicy::block).wait(0ms) == false, "no message");
        try {
            static_cast<void>(same.publisher());
        } catch (const Error&) {
            return;
        }
        require(false, "it has a publisher");
    });
    EXPECT_EQ(children.wait(late), 0);
}

TEST(NamesTest, AForkedChildMayDropAHandleThatHoldsTheName) {
    const std::string name = name_for("fork");
    auto ring = std::make_unique<BroadcastRing>(BroadcastOptions{.name = name});
    Children children;
    EXPECT_EQ(children.wait(children.start([&] { ring.reset(); })), 0);
    EXPECT_NO_THROW(static_cast<void>(BroadcastRing({.name = name}).publisher()));
    EXPECT_THROW(static_cast<void>(ring->publisher()), Error) << "the name is still held";
}

} // namespace
} // namespace corymb

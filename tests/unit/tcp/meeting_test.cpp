// SPDX-License-Identifier: Apache-2.0
// Ranks meet by a line, and nobody else does. Teams work over the connections, too.
#include "limits.hpp"
#include "tcp/socket.hpp"

#include <corymb/cluster.hpp>
#include <corymb/error.hpp>
#include <corymb/remote_nodes.hpp>
#include <corymb/tcp_carrier.hpp>
#include <corymb/team.hpp>

#include <gtest/gtest.h>

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <iterator>
#include <memory>
#include <numeric>
#include <span>
#include <string>
#include <sys/socket.h>
#include <thread>
#include <vector>

namespace {

using corymb::Carrier;
using corymb::Errc;
using corymb::Error;
using corymb::Rank;
using corymb::TcpCarrier;
using corymb::TcpOptions;

Errc code_of(const std::function<void()>& call, std::vector<int>* ranks = nullptr) {
    try {
        call();
    } catch (const Error& error) {
        if (ranks != nullptr) {
            *ranks = error.ranks();
        }
        return error.code();
    }
    return Errc::internal; // None of the errors that are expected here.
}

TcpOptions for_so_long(std::chrono::nanoseconds deadline) {
    TcpOptions options;
    options.deadline = deadline;
    return options;
}

/// The line with another key.
std::string forged(std::string line) {
    const std::size_t last = line.find(':', line.find(':') + 1) + 32;
    line[last] = line[last] == '0' ? '1' : '0';
    return line;
}

std::size_t entries(const char* folder) {
    using Entries = std::filesystem::directory_iterator;
    return static_cast<std::size_t>(std::distance(Entries(folder), Entries()));
}

TEST(TcpMeeting, RanksAreNumberedAsTheyWishOrAsTheyCome) {
    TcpCarrier first(4, "127.0.0.1");
    std::vector<std::jthread> threads;
    std::vector<int> seen(4);
    for (const Rank wish : {2, -1, -1}) {
        threads.emplace_back([&first, &seen, wish] {
            TcpCarrier own(first.join_line(), wish);
            own.meet();
            EXPECT_TRUE(wish < 0 || own.rank() == wish);
            EXPECT_EQ(own.node_of_rank(), (std::vector<int>{0, 0, 0, 0}));
            seen[static_cast<std::size_t>(own.rank())] = 1;
        });
    }
    first.meet();
    threads.clear();
    EXPECT_EQ(seen, (std::vector<int>{0, 1, 1, 1}));
}

TEST(TcpMeeting, WhoHasNoKeyIsRefusedAndHoldsUpNobody) {
    TcpCarrier first(2, "127.0.0.1");
    const std::string line = first.join_line();
    std::jthread meets([&first] { first.meet(); });
    const auto port =
        static_cast<std::uint16_t>(std::stoi(line.substr(line.find(':', line.find(':') + 1) + 34)));
    const auto soon = std::chrono::steady_clock::now().time_since_epoch() + corymb::test_limit();
    const corymb::Descriptor silent =
        corymb::tcp::connect_to({"127.0.0.1", port}, std::chrono::nanoseconds(soon).count(), "it");
    EXPECT_EQ(code_of([&line] { TcpCarrier(forged(line), 1).meet(); }), Errc::io);
    TcpCarrier second(line, 1);
    second.meet();
    EXPECT_EQ(second.rank(), 1);
}

TEST(TcpMeeting, ARankThatIsThereIsRefusedASecondTime) {
    TcpCarrier first(3, "127.0.0.1");
    std::jthread meets([&first] { first.meet(); });
    std::jthread once([&first] { TcpCarrier(first.join_line(), 1).meet(); });
    // One of the two comes first; the other one is refused, and so is who would be rank 0 or 3.
    for (const Rank wrong : {0, 3}) {
        EXPECT_EQ(code_of([&] { TcpCarrier(first.join_line(), wrong).meet(); }),
                  Errc::invalid_argument);
    }
    TcpCarrier last(first.join_line(), 2);
    last.meet();
    EXPECT_EQ(last.rank(), 2);
}

TEST(TcpMeeting, TheDeadlineNamesWhoIsMissing) {
    TcpCarrier first(3, "127.0.0.1", for_so_long(std::chrono::milliseconds(50)));
    std::vector<int> missing;
    EXPECT_EQ(code_of([&first] { first.meet(); }, &missing), Errc::timeout);
    EXPECT_EQ(missing, (std::vector<int>{1, 2}));
    EXPECT_EQ(
        code_of([&first] {
            TcpCarrier(first.join_line(), 1, for_so_long(std::chrono::milliseconds(50))).meet();
        }),
        Errc::timeout);
}

TEST(TcpMeeting, WhoHasJoinedWithoutANumberIsNotMissed) {
    auto own =
        std::make_unique<TcpCarrier>(4, "127.0.0.1", for_so_long(std::chrono::milliseconds(500)));
    TcpCarrier& first = *own;
    const std::string line = first.join_line();
    std::vector<std::jthread> threads;
    for (int i = 0; i < 2; ++i) {
        threads.emplace_back(
            [&line] { EXPECT_EQ(code_of([&line] { TcpCarrier(line).meet(); }), Errc::io); });
    }
    std::vector<int> missing;
    EXPECT_EQ(code_of([&first] { first.meet(); }, &missing), Errc::timeout);
    EXPECT_EQ(missing, std::vector<int>{3});
    own.reset(); // Those who have joined learn of its end.
}

TEST(TcpMeeting, StrangersDoNotTakeAllDescriptors) {
    TcpCarrier first(2, "127.0.0.1");
    const std::string line = first.join_line();
    std::jthread meets([&first] { first.meet(); });
    const auto port =
        static_cast<std::uint16_t>(std::stoi(line.substr(line.find(':', line.find(':') + 1) + 34)));
    const auto soon = std::chrono::steady_clock::now().time_since_epoch() + corymb::test_limit();
    std::vector<corymb::Descriptor> silent;
    for (int i = 0; i < 30; ++i) {
        silent.push_back(corymb::tcp::connect_to({"127.0.0.1", port},
                                                 std::chrono::nanoseconds(soon).count(), "it"));
    }
    const auto is_closed = [](const corymb::Descriptor& one) {
        char byte = 0;
        return ::recv(one.number(), &byte, 1, MSG_DONTWAIT) == 0;
    };
    while (!is_closed(silent.front())) { // The oldest ones make room.
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    TcpCarrier second(line, 1);
    second.meet();
    EXPECT_EQ(second.rank(), 1);
}

TEST(TcpCarrier, NothingWorksBeforeRanksHaveMet) {
    TcpCarrier first(2, "127.0.0.1");
    int word = 0;
    const auto channel = Carrier::Channel::data;
    EXPECT_EQ(first.loss_of(1), nullptr);
    EXPECT_EQ(code_of([&] { first.send(&word, sizeof word, 1, channel, 0); }),
              Errc::invalid_argument);
    EXPECT_EQ(code_of([&] { first.receive(&word, sizeof word, 1, channel); }),
              Errc::invalid_argument);
}

TEST(TcpCarrier, AUsedUpTicketHarmsNoOther) {
    TcpCarrier first(2, "127.0.0.1");
    TcpCarrier second(first.join_line());
    std::jthread meets([&second] { second.meet(); });
    first.meet();
    meets.join();
    const auto channel = Carrier::Channel::data;
    int word = 7;
    int got = 0;
    const Carrier::Ticket old = second.receive(&got, sizeof got, 0, channel);
    second.abandon(old);
    const Carrier::Ticket next = second.receive(&got, sizeof got, 0, channel);
    second.abandon(old);
    Carrier::Arrival arrival;
    EXPECT_EQ(code_of([&] { static_cast<void>(second.test(old, arrival)); }),
              Errc::invalid_argument);
    EXPECT_EQ(code_of([&] { first.send(&word, sizeof word, 0, channel, 0); }),
              Errc::invalid_argument); // To itself.
    first.send(&word, sizeof word, 1, channel, 0);
    while (!second.test(next, arrival)) {
    }
    EXPECT_EQ(got, 7);
}

TEST(TcpMeeting, WrongArgumentsAreRefused) {
    const auto code = [](const std::function<void()>& call) {
        return code_of(call);
    };
    for (const char* const line : {"", "corymb-tcp-1", "corymb-tcp-1:2:abc:80:host",
                                   "corymb-tcp-1:0:00000000000000000000000000000000:80:host"}) {
        EXPECT_EQ(code([line] { TcpCarrier own(line, 1); }), Errc::invalid_argument) << line;
    }
    EXPECT_EQ(code([] { TcpCarrier own(0, "127.0.0.1"); }), Errc::invalid_argument);
    TcpOptions hasty;
    hasty.lost_after = std::chrono::seconds(1);
    EXPECT_EQ(code([&hasty] { TcpCarrier own(1, "127.0.0.1", hasty); }), Errc::invalid_argument);
    EXPECT_EQ(code([] { TcpCarrier own(1, "no such host"); }), Errc::io);
}

TEST(TcpMeeting, NothingIsLeft) {
    std::jthread([] {}).join(); // With the first thread a sanitizer may start one of its own.
    const std::size_t descriptors = entries("/proc/self/fd");
    const std::size_t threads = entries("/proc/self/task");
    {
        TcpCarrier first(2, "127.0.0.1");
        TcpCarrier second(first.join_line());
        std::jthread meets([&second] { second.meet(); });
        first.meet();
        meets.join();
        const corymb::RemoteRank own = [&] {
            std::jthread other([&second] {
                const corymb::RemoteRank there = corymb::join_over_nodes(second, {0, 1}, 1);
            });
            return corymb::join_over_nodes(first, {0, 1}, 0);
        }();
    }
    EXPECT_EQ(entries("/proc/self/fd"), descriptors);
    const auto end = std::chrono::steady_clock::now() + corymb::test_limit();
    while (entries("/proc/self/task") != threads && std::chrono::steady_clock::now() < end) {
        std::this_thread::yield(); // One that was joined is listed for a moment.
    }
    EXPECT_EQ(entries("/proc/self/task"), threads);
}

/// Blocking and nonblocking calls, short and long ones.
void use(corymb::Team& team) {
    for (const std::size_t count : {std::size_t{1}, std::size_t{300'000}}) {
        std::vector<std::int64_t> own(count);
        std::iota(own.begin(), own.end(), team.rank());
        std::vector<std::int64_t> sum(count);
        std::vector<std::int64_t> later(count);
        team.allreduce(own, sum);
        corymb::Request request = team.iallreduce(own, later);
        request.wait();
        for (std::size_t i = 0; i < count; ++i) {
            ASSERT_EQ(sum[i], 3 * static_cast<std::int64_t>(i) + 3);
        }
        EXPECT_EQ(later, sum);
    }
}

TEST(TcpCarrier, ATeamOverNodesUsesIt) {
    TcpCarrier first(3, "127.0.0.1");
    const auto live = [](TcpCarrier& carrier) {
        carrier.meet();
        corymb::ThreadTeam alone(1);
        corymb::ClusterOptions options;
        options.node_of_rank = {0, 1, 2};
        options.rank = carrier.rank();
        corymb::Team team = corymb::over_nodes(alone.join(0), carrier, options);
        use(team);
        team.leave();
    };
    std::vector<std::jthread> threads;
    for (int i = 1; i < 3; ++i) {
        threads.emplace_back([&first, &live] {
            TcpCarrier own(first.join_line());
            live(own);
        });
    }
    live(first);
}

/// A message that no socket holds at once, abandoned on the way, and one behind it.
TEST(TcpCarrier, AnAbandonedMessageLeavesTheOthersWhole) {
    TcpCarrier first(2, "127.0.0.1");
    TcpCarrier second(first.join_line());
    std::jthread meets([&second] { second.meet(); });
    first.meet();
    meets.join();
    const auto channel = Carrier::Channel::data;
    std::vector<std::uint32_t> longest(16'000'000 / sizeof(std::uint32_t));
    std::iota(longest.begin(), longest.end(), 7U);
    const std::vector<std::uint32_t> expected = longest;
    const std::size_t bytes = 4 * longest.size();
    first.abandon(first.send(longest.data(), bytes, 1, channel, 5));
    std::fill(longest.begin(), longest.end(), 0U);
    const int word = 41;
    const Carrier::Ticket sent = first.send(&word, sizeof word, 1, channel, 6);
    std::vector<std::uint32_t> got(longest.size());
    int got_word = 0;
    const Carrier::Ticket dropped =
        second.receive(&got_word, sizeof got_word, 0, Carrier::Channel::notifications);
    const Carrier::Ticket one = second.receive(got.data(), bytes, 0, channel);
    const Carrier::Ticket two = second.receive(&got_word, 2, 0, channel);
    second.abandon(dropped);
    Carrier::Arrival arrival;
    Carrier::Arrival none;
    for (bool is_sent = false; !second.test(two, arrival);) {
        is_sent = is_sent || first.test(sent, none);
    }
    EXPECT_EQ(arrival.bytes, sizeof word); // More than there was room for.
    EXPECT_EQ(arrival.mark, 6);
    EXPECT_TRUE(second.test(one, arrival));
    EXPECT_EQ(arrival.bytes, bytes);
    EXPECT_EQ(arrival.mark, 5);
    EXPECT_EQ(got, expected);
}

} // namespace

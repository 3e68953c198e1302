// SPDX-License-Identifier: Apache-2.0
// Processes that are ranks on nodes of their own, and end, stop or lose their network.
#include "process/children.hpp"

#include <corymb/remote.hpp>
#include <corymb/remote_nodes.hpp>
#include <corymb/tcp_carrier.hpp>
#include <corymb/this_task.hpp>
#include <corymb/when.hpp>

#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <functional>
#include <memory>
#include <sched.h>
#include <string>
#include <string_view>
#include <thread>
#include <unistd.h>
#include <vector>

namespace {

using corymb::Errc;
using corymb::Rank;
using corymb::Task;
using corymb::TcpCarrier;
using corymb::TcpOptions;
using corymb::process_test::Children;
using corymb::process_test::require;

using Life = std::function<Task<>(Rank)>;

TcpOptions quick() {
    TcpOptions options;
    options.lost_after = std::chrono::seconds(2);
    return options;
}

std::vector<int> node_each(const TcpCarrier& carrier) {
    std::vector<int> nodes(carrier.node_of_rank().size());
    for (std::size_t rank = 0; rank < nodes.size(); ++rank) {
        nodes[rank] = static_cast<int>(rank);
    }
    return nodes;
}

void be(TcpCarrier& carrier, const Life& life) {
    carrier.meet();
    corymb::RemoteRank own = corymb::join_over_nodes(carrier, node_each(carrier), carrier.rank());
    own.run(life(carrier.rank()));
}

/// Calls `to` until that fails, and returns the error.
Task<> expect_loss(Rank to) {
    try {
        for (;;) {
            co_await corymb::at(to, [] {});
        }
    } catch (const corymb::Error& error) {
        require(error.code() == Errc::team_broken, "another code");
        require(error.ranks() == std::vector<int>{to}, "another rank");
        require(std::string_view(error.what()).find("cannot be reached: ") !=
                    std::string_view::npos,
                error.what());
    }
}

TEST(TcpDeath, CallsOfADeadRankFailAndTheOthersGoOn) {
    TcpCarrier first(3, "127.0.0.1", quick());
    Children children;
    const Life life = [](Rank own) -> Task<> {
        const Rank other = 1 - own;
        require(co_await corymb::at(other, [] { return corymb::here(); }) == other, "a call");
        if (own == 0) {
            require(co_await corymb::at(2, [] { return corymb::here(); }) == 2, "a call");
            co_await corymb::post(2, [] { std::raise(SIGKILL); });
        }
        co_await expect_loss(2);
        for (int i = 0; i < 100; ++i) {
            require(co_await corymb::at(other, [] { return corymb::here(); }) == other, "after");
        }
    };
    children.start([&] { be(first, life); });
    for (const Rank rank : {1, 2}) {
        children.start([&, rank] {
            TcpCarrier own(first.join_line(), rank, quick());
            be(
                own, rank == 1 ? life : [](Rank) -> Task<> {
                    co_await corymb::this_task::sleep_for(std::chrono::hours(1));
                });
        });
    }
    EXPECT_EQ(children.wait(0), 0);
    EXPECT_EQ(children.wait(1), 0);
    EXPECT_TRUE(WIFSIGNALED(children.wait(2)));
}

/// Its kernel answers for it, also when no more fits into its buffers.
TEST(TcpDeath, ARankThatIsStoppedIsNotDead) {
    TcpCarrier first(2, "127.0.0.1", quick());
    Children children;
    static constexpr std::size_t most = 30'000'000;
    const auto other = children.start([&] {
        TcpCarrier own(first.join_line(), 1, quick());
        own.meet();
        std::vector<std::byte> room(most);
        TcpCarrier::Arrival arrival;
        const auto ticket = own.receive(room.data(), most, 0, TcpCarrier::Channel::data);
        while (!own.test(ticket, arrival)) {
            std::this_thread::yield();
        }
        require(arrival.bytes == most, "another length");
    });
    first.meet();
    children.signal(other, SIGSTOP);
    const std::vector<std::byte> message(most);
    TcpCarrier::Arrival none;
    const auto ticket = first.send(message.data(), most, 1, TcpCarrier::Channel::data, 0);
    const auto end = std::chrono::steady_clock::now() + std::chrono::milliseconds(3500);
    while (std::chrono::steady_clock::now() < end) {
        ASSERT_FALSE(first.test(ticket, none));
        ASSERT_EQ(first.loss_of(1), nullptr);
        std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
    children.signal(other, SIGCONT);
    while (!first.test(ticket, none)) {
        std::this_thread::yield();
    }
    EXPECT_EQ(children.wait(other), 0);
}

/// Counts the looks of a rank.
class Counted final : public corymb::Carrier {
public:
    explicit Counted(TcpCarrier& whole) : whole_(&whole) {}
    int looks = 0;
    [[nodiscard]] bool has_notices() const noexcept override { return true; }
    Ticket send(const void* data, std::size_t bytes, Rank to, Channel channel, int mark) override {
        return whole_->send(data, bytes, to, channel, mark);
    }
    Ticket receive(void* data, std::size_t room, Rank from, Channel channel) override {
        return whole_->receive(data, room, from, channel);
    }
    bool test(Ticket ticket, Arrival& arrival) override {
        ++looks;
        return whole_->test(ticket, arrival);
    }
    void abandon(Ticket ticket) noexcept override { whole_->abandon(ticket); }
    [[nodiscard]] int wait_descriptor() const noexcept override {
        return whole_->wait_descriptor();
    }
    [[nodiscard]] const std::string* loss_of(Rank rank) noexcept override {
        return whole_->loss_of(rank);
    }

private:
    TcpCarrier* whole_;
};

TEST(TcpSleep, ARankWithNothingToDoSleepsUntilAMessageComes) {
    static std::atomic<bool> is_told{false};
    TcpCarrier first(2, "127.0.0.1");
    std::jthread other([&first] {
        TcpCarrier own(first.join_line());
        own.meet();
        corymb::join_over_nodes(own, {0, 1}, 1).run([]() -> Task<> {
            co_await corymb::this_task::sleep_for(std::chrono::milliseconds(500));
            co_await corymb::tell(0, [] { is_told = true; });
        }());
    });
    first.meet();
    Counted counted(first);
    corymb::RemoteOptions options;
    options.wait = corymb::WaitPolicy::park;
    {
        corymb::RemoteRank own = corymb::join_over_nodes(counted, {0, 1}, 0, options);
        counted.looks = 0;
        own.run([]() -> Task<> {
            co_return;
        }());
        EXPECT_LT(counted.looks, 1'000); // Naps of 50 us would be 10,000.
    }
    EXPECT_TRUE(is_told);
}

/// Why networks cannot be made here; empty: they can.
std::string no_networks() {
    for (const char* const command : {"ip -V", "unshare --net true", "nsenter --version"}) {
        if (::geteuid() != 0 ||
            std::system((std::string(command) + " > /dev/null 2>&1").c_str()) != 0) {
            return std::string("making network namespaces needs root and ") + command;
        }
    }
    return "";
}

/// Both ranks lie in networks of their own, which are cut from each other when rank 0 has called
/// the function that it is given.
void cut_from_each_other(
    const std::function<void(TcpCarrier&, const std::function<void()>& cut)>& first,
    const std::function<void(TcpCarrier&)>& second) {
    std::array<int, 2> made{}; // A byte: a child has its network.
    std::array<int, 2> linked{};
    std::array<int, 2> line{};
    std::array<int, 2> called{};
    for (auto* const both : {&made, &linked, &line, &called}) {
        ASSERT_EQ(::pipe(both->data()), 0);
    }
    const auto pass = [](const std::array<int, 2>& to) {
        require(::write(to[1], "x", 1) == 1, "a pipe");
    };
    const auto await = [](const std::array<int, 2>& from) {
        char byte = 0;
        require(::read(from[0], &byte, 1) == 1, "a pipe");
    };
    const auto enter = [&] {
        require(::unshare(CLONE_NEWNET) == 0, "unshare");
        pass(made);
        await(linked);
    };
    Children children;
    children.start([&] {
        enter();
        TcpCarrier own(2, "10.199.0.1", quick());
        const std::string text = own.join_line() + "\n";
        require(::write(line[1], text.data(), text.size()) == static_cast<ssize_t>(text.size()),
                "a pipe");
        first(own, [&] { pass(called); });
    });
    children.start([&] {
        enter();
        std::array<char, 600> text{};
        require(::read(line[0], text.data(), text.size() - 1) > 0, "a pipe");
        const std::string_view read(text.data());
        TcpCarrier own(read.substr(0, read.find('\n')), 1, quick());
        second(own);
    });
    await(made);
    await(made);
    const auto in = [&](std::size_t child, const std::string& command) {
        const std::string whole =
            "nsenter -t " + std::to_string(children.pid(child)) + " -n ip " + command;
        ASSERT_EQ(std::system(whole.c_str()), 0) << whole;
    };
    in(0, "link add v0 type veth peer name v0 netns " + std::to_string(children.pid(1)));
    for (const std::size_t child : {0U, 1U}) {
        in(child, "addr add 10.199.0." + std::to_string(child + 1) + "/24 dev v0");
        in(child, "link set v0 up");
    }
    pass(linked);
    pass(linked);
    await(called);
    in(1, "link set v0 down");
    EXPECT_EQ(children.wait(0), 0);
    EXPECT_EQ(children.wait(1), 0);
}

/// One rank has a call under way, the other one waits for nothing of the first.
TEST(TcpDeath, ANodeThatCannotBeReachedIsDead) {
    if (const std::string why = no_networks(); !why.empty()) {
        GTEST_SKIP() << why;
    }
    cut_from_each_other(
        [](TcpCarrier& own, const std::function<void()>& cut) {
            be(own, [&cut](Rank) -> Task<> {
                co_await corymb::at(1, [] {});
                cut();
                co_await expect_loss(1);
            });
        },
        [](TcpCarrier& own) { be(own, [](Rank) -> Task<> { co_return; }); });
}

/// A rank that only tests what it waits for, as those of teams do.
TEST(TcpDeath, WhoWaitsForANodeThatCannotBeReachedIsTold) {
    if (const std::string why = no_networks(); !why.empty()) {
        GTEST_SKIP() << why;
    }
    const auto wait_for_other = [](TcpCarrier& own, Rank other) {
        const auto channel = TcpCarrier::Channel::data;
        int word = 0;
        TcpCarrier::Arrival arrival;
        TcpCarrier::Arrival none;
        const auto ticket = own.receive(&word, sizeof word, other, channel);
        try {
            while (!own.test(ticket, arrival)) { // Owed an answer, so no sign of life is asked for.
                while (!own.test(own.send(&word, sizeof word, other, channel, 0), none)) {
                }
                std::this_thread::sleep_for(std::chrono::milliseconds(20));
            }
        } catch (const corymb::Error& error) {
            require(error.code() == Errc::team_broken, error.what());
            require(error.ranks() == std::vector<int>{other}, "another rank");
            return;
        }
        require(false, "a message has come");
    };
    cut_from_each_other(
        [&](TcpCarrier& own, const std::function<void()>& cut) {
            own.meet();
            cut();
            wait_for_other(own, 1);
        },
        [&](TcpCarrier& own) {
            own.meet();
            TcpCarrier::Arrival arrival;
            int word = 0;
            try {
                for (;;) {
                    const auto ticket =
                        own.receive(&word, sizeof word, 0, TcpCarrier::Channel::data);
                    while (!own.test(ticket, arrival)) {
                        std::this_thread::sleep_for(std::chrono::milliseconds(1));
                    }
                }
            } catch (const corymb::Error& error) {
                require(error.code() == Errc::team_broken, error.what());
            }
        });
}

} // namespace

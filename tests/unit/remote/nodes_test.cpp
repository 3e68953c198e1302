// SPDX-License-Identifier: Apache-2.0
// Calls among ranks on several nodes: threads play the nodes.
#include "remote/over_nodes.hpp"

#include <corymb/finish.hpp>
#include <corymb/object_group.hpp>
#include <corymb/remote_object.hpp>
#include <corymb/this_task.hpp>
#include <corymb/when.hpp>

#include <gtest/gtest.h>

#include <atomic>
#include <functional>
#include <numeric>
#include <string>
#include <thread>
#include <vector>

namespace {

using corymb::Nodes;
using corymb::NodesOver;
using corymb::over_nodes;
using corymb::Rank;
using corymb::Task;

const NodesOver ways[] = {
    {{0, 1}},       {{0, 0, 1, 1}},       {{0, 1, 0, 2, 1}},       {{0, 0, 0}},
    {{0, 1}, true}, {{0, 0, 1, 1}, true}, {{0, 1, 0, 2, 1}, true}, {{0, 0, 0}, true},
};

struct RemoteNodes : testing::TestWithParam<NodesOver> {};
INSTANTIATE_TEST_SUITE_P(Ways, RemoteNodes, testing::ValuesIn(ways));

TEST_P(RemoteNodes, CallsAnswerFromEveryRankToEveryRank) {
    over_nodes(GetParam(), [](Rank rank) -> Task<> {
        for (Rank to = 0; to < corymb::ranks(); ++to) {
            const int got = co_await corymb::at(
                to, [](Rank from) { return 100 * from + corymb::here(); }, rank);
            EXPECT_EQ(got, 100 * rank + to);
        }
    });
}

TEST_P(RemoteNodes, LongArgumentsAndResultsArriveWhole) {
    over_nodes(GetParam(), [](Rank rank) -> Task<> {
        std::vector<int> numbers(30'000);
        std::iota(numbers.begin(), numbers.end(), rank);
        const Rank next = (rank + 1) % corymb::ranks();
        const auto back = co_await corymb::at(
            next,
            [](std::vector<int> all) {
                for (int& one : all) {
                    ++one;
                }
                return all;
            },
            numbers);
        std::vector<int> expected(numbers.size());
        std::iota(expected.begin(), expected.end(), rank + 1);
        EXPECT_EQ(back, expected);
    });
}

/// Many more than there is room for, and everybody floods everybody.
TEST_P(RemoteNodes, TellsOfATaskArriveOnceAndInOrder) {
    static constexpr int each = 60;
    corymb::RemoteOptions options;
    options.capacity = 4;
    over_nodes(
        GetParam(),
        [](Rank rank) -> Task<> {
            thread_local std::vector<std::vector<int>> got;
            got.assign(static_cast<std::size_t>(corymb::ranks()), {});
            // Nobody may tell a rank before its list is there.
            for (Rank to = 0; to < corymb::ranks(); ++to) {
                while (!co_await corymb::at(to, [] { return !got.empty(); })) {
                }
            }
            co_await corymb::finish([rank]() -> Task<> {
                for (int i = 0; i < each; ++i) {
                    for (Rank to = 0; to < corymb::ranks(); ++to) {
                        co_await corymb::tell(
                            to,
                            [](Rank from, int number) {
                                got[static_cast<std::size_t>(from)].push_back(number);
                            },
                            rank, i);
                    }
                }
            });
            std::vector<int> expected(each);
            std::iota(expected.begin(), expected.end(), 0);
            for (Rank to = 0; to < corymb::ranks(); ++to) {
                const auto arrived = co_await corymb::at(
                    to, [](Rank from) { return got[static_cast<std::size_t>(from)]; }, rank);
                EXPECT_EQ(arrived, expected);
            }
        },
        options);
}

struct Counter {
    explicit Counter(long start) : value(start) {}
    long add(long more) { return value += more; }
    Task<long> ask(corymb::Remote<Counter> other) {
        co_return co_await other.call<&Counter::add>(value);
    }
    long value;
};

TEST_P(RemoteNodes, ObjectsAndGroupsOfThemAreCalled) {
    over_nodes(GetParam(), [](Rank rank) -> Task<> {
        const Rank last = corymb::ranks() - 1;
        const auto near = co_await corymb::create<Counter>(0, 5L);
        const auto far = co_await corymb::create<Counter>(last, 7L + rank);
        EXPECT_EQ(co_await near.call<&Counter::ask>(far), 12 + rank);
        EXPECT_EQ(co_await far.call<&Counter::ask>(near), 17 + rank);
        std::vector<Rank> all(static_cast<std::size_t>(corymb::ranks()));
        std::iota(all.begin(), all.end(), 0);
        const auto group = co_await corymb::create_group<Counter>(all, 1L);
        co_await group.step<&Counter::add>(2L);
        EXPECT_EQ(co_await group.reduce<&Counter::add>(std::plus<long>(), 0L),
                  3L * corymb::ranks());
        co_await far.destroy();
        corymb::Errc code{};
        try {
            co_await far.call<&Counter::add>(1L);
        } catch (const corymb::Error& error) {
            code = error.code();
        }
        EXPECT_EQ(code, corymb::Errc::invalid_argument);
    });
}

TEST_P(RemoteNodes, ExceptionsNameTheirRank) {
    over_nodes(GetParam(), [](Rank) -> Task<> {
        const Rank last = corymb::ranks() - 1;
        std::string text;
        try {
            co_await corymb::at(last, []() -> Task<> {
                co_await corymb::this_task::yield();
                throw std::out_of_range("nothing there");
            });
        } catch (const std::out_of_range& error) {
            text = error.what();
        }
        EXPECT_EQ(text, "nothing there");
    });
}

/// Calls it until that fails.
void expect_departure(corymb::RemoteRank& own, Rank last) {
    corymb::Errc code{};
    std::vector<int> named;
    const auto ask = [](Rank to, corymb::Errc& out, std::vector<int>& ranks) -> Task<> {
        try {
            for (;;) {
                co_await corymb::at(to, [] {});
            }
        } catch (const corymb::Error& error) {
            out = error.code();
            ranks = error.ranks();
        }
    };
    own.scheduler().run(ask(last, code, named));
    EXPECT_EQ(code, corymb::Errc::team_broken);
    EXPECT_EQ(named, std::vector<int>{last});
}

TEST_P(RemoteNodes, CallsOfARankThatHasLeftFail) {
    const auto& [nodes, is_tcp] = GetParam();
    const auto last = static_cast<Rank>(nodes.size()) - 1;
    const auto live = [last](corymb::RemoteRank& own) {
        own.run([]() -> Task<> {
            co_return;
        }());
        if (own.rank() != last) {
            expect_departure(own, last);
        }
    };
    if (is_tcp) {
        corymb::over_tcp(nodes, live);
        return;
    }
    cluster_test::Switchboard board;
    std::vector<std::jthread> threads;
    for (Rank rank = 0; rank <= last; ++rank) {
        threads.emplace_back([&, rank] {
            cluster_test::Line line(board, rank);
            corymb::RemoteRank own = corymb::join_over_nodes(line, nodes, rank);
            live(own);
        });
    }
}

/// Fails from one moment on.
class Cut final : public corymb::Carrier {
public:
    explicit Cut(Carrier& whole) : whole_(&whole) {}
    bool is_cut = false;
    [[nodiscard]] bool has_notices() const noexcept override { return true; }
    Ticket send(const void* data, std::size_t bytes, Rank to, Channel channel, int mark) override {
        refuse();
        return whole_->send(data, bytes, to, channel, mark);
    }
    Ticket receive(void* data, std::size_t room, Rank from, Channel channel) override {
        return whole_->receive(data, room, from, channel);
    }
    bool test(Ticket ticket, Arrival& arrival) override {
        refuse();
        return whole_->test(ticket, arrival);
    }
    void abandon(Ticket ticket) noexcept override { whole_->abandon(ticket); }

private:
    void refuse() const {
        if (is_cut) {
            throw corymb::Error(corymb::Errc::io, "the cable was pulled");
        }
    }
    Carrier* whole_;
};

TEST(RemoteNodesCut, CallsFailWithTheTextOfTheCarrier) {
    cluster_test::Switchboard board;
    std::atomic<int> answered{0};
    std::vector<std::jthread> threads;
    for (Rank rank = 0; rank < 2; ++rank) {
        threads.emplace_back([&, rank] {
            cluster_test::Line line(board, rank);
            Cut cut(line);
            corymb::RemoteRank own = corymb::join_over_nodes(cut, {0, 1}, rank);
            std::string text;
            own.run([](Cut& carrier, std::string& out, std::atomic<int>& ranks) -> Task<> {
                const Rank other = 1 - corymb::here();
                try {
                    co_await corymb::at(other, [] {});
                    ++ranks;
                    while (ranks != 2) { // Else the other one would wait for this one's answer.
                        co_await corymb::this_task::yield();
                    }
                    carrier.is_cut = true;
                    co_await corymb::at(other, [] {});
                } catch (const corymb::Error& error) {
                    EXPECT_EQ(error.code(), corymb::Errc::team_broken);
                    EXPECT_EQ(error.ranks(), std::vector<int>{other});
                    out = error.what();
                }
            }(cut, text, answered));
            EXPECT_NE(text.find("the cable was pulled"), std::string::npos) << text;
        });
    }
}

TEST(RemoteNodesRefuse, WrongPlacesAndCarriersWithoutNotices) {
    cluster_test::Switchboard board;
    cluster_test::Line line(board, 0);
    EXPECT_THROW(static_cast<void>(corymb::join_over_nodes(line, {0, 2}, 0)), corymb::Error);
    EXPECT_THROW(static_cast<void>(corymb::join_over_nodes(line, {0, 1}, 2)), corymb::Error);
    struct Plain final : corymb::Carrier {
        Ticket send(const void*, std::size_t, Rank, Channel, int) override { return 0; }
        Ticket receive(void*, std::size_t, Rank, Channel) override { return 0; }
        bool test(Ticket, Arrival&) override { return true; }
        void abandon(Ticket) noexcept override {}
    } plain;
    EXPECT_THROW(static_cast<void>(corymb::join_over_nodes(plain, {0, 1}, 0)), corymb::Error);
}

TEST(RemoteNodesRefuse, AWaitForOthersThatNeverComeEnds) {
    cluster_test::Switchboard board;
    cluster_test::Line line(board, 1);
    try {
        static_cast<void>(
            corymb::join_over_nodes(line, {0, 1}, 1, {}, std::chrono::milliseconds(50)));
        ADD_FAILURE() << "rank 0 never came";
    } catch (const corymb::Error& error) {
        EXPECT_EQ(error.code(), corymb::Errc::timeout);
    }
}

} // namespace

// SPDX-License-Identifier: Apache-2.0
// How many messages calls of groups take: a carrier counts those between nodes. If not said
// otherwise, each rank is a node.
#include "../cluster_team/switchboard.hpp"
#include "remote/among.hpp"

#include <corymb/object_group.hpp>
#include <corymb/remote_nodes.hpp>

#include <array>
#include <atomic>
#include <cstddef>
#include <functional>
#include <gtest/gtest.h>
#include <numeric>
#include <stop_token>
#include <thread>
#include <utility>
#include <vector>

namespace corymb {
namespace {

constexpr int size = 4;
/// Messages to each rank so far.
using Counts = std::array<std::atomic<int>, size>;

class CountingLine final : public Carrier {
public:
    CountingLine(cluster_test::Switchboard& board, Rank own, Counts& to)
        : line_(board, own), to_(&to) {}
    [[nodiscard]] int lanes() const noexcept override { return line_.lanes(); }
    [[nodiscard]] int own_lanes() const noexcept override { return line_.own_lanes(); }
    [[nodiscard]] bool has_notices() const noexcept override { return line_.has_notices(); }
    Ticket send(const void* data, std::size_t bytes, Rank to, Channel channel, int mark) override {
        ++(*to_)[static_cast<std::size_t>(to)];
        return line_.send(data, bytes, to, channel, mark);
    }
    Ticket receive(void* data, std::size_t room, Rank from, Channel channel) override {
        return line_.receive(data, room, from, channel);
    }
    bool test(Ticket ticket, Arrival& arrival) override { return line_.test(ticket, arrival); }
    void abandon(Ticket ticket) noexcept override { line_.abandon(ticket); }

private:
    cluster_test::Line line_;
    Counts* to_;
};

struct Pot {
    explicit Pot(long of) : value(of) {}
    void add(long by) { value += by; }
    [[nodiscard]] long get() const { return value; }
    long value;
};

std::vector<int> now(const Counts& counts) {
    return {counts.begin(), counts.end()};
}
/// Messages to each rank that the call takes.
Task<std::vector<int>> messages(const Counts& counts, Task<> call) {
    const std::vector<int> before = now(counts);
    co_await std::move(call);
    std::vector<int> all = now(counts);
    for (std::size_t rank = 0; rank < all.size(); ++rank) {
        all[rank] -= before[rank];
    }
    co_return all;
}
template <class T>
Task<> forget(Task<T> call) {
    co_await std::move(call);
}
int sum_of(const std::vector<int>& counts) {
    return std::reduce(counts.begin(), counts.end());
}

/// Rank 0 calls, the others serve.
void with_counts(const std::function<Task<>(const Counts&)>& main,
                 const std::vector<int>& nodes = {0, 1, 2, 3}) {
    cluster_test::Switchboard board;
    Counts counts{};
    std::vector<std::jthread> threads;
    for (Rank rank = 0; rank < size; ++rank) {
        threads.emplace_back([&, rank] {
            CountingLine line(board, rank, counts);
            RemoteOptions options;
            options.capacity = 4096; // Rooms are not told of in between.
            RemoteRank own = join_over_nodes(line, nodes, rank, options);
            own.run([](Rank number, const auto& of_first, const Counts& so_far) -> Task<> {
                if (number == 0) {
                    co_await of_first(so_far);
                }
            }(rank, main, counts));
        });
    }
}

/// Ranks greet each other once, and tell that their own tasks have ended.
Task<> meet() {
    co_await finish([]() -> Task<> {
        for (Rank from = 0; from < size; ++from) {
            co_await tell(from, []() -> Task<> {
                for (Rank to = 0; to < size; ++to) {
                    co_await at(to, [] {});
                }
            });
        }
    });
}
/// Branches are told their members as well.
Task<ObjectGroup<Pot>> met_group(int members_of_a_rank) {
    const auto on = spread(static_cast<std::size_t>(size * members_of_a_rank),
                           ArrayMapping::cyclic(), all_ranks());
    const auto group = co_await create_group<Pot>(on, 0L);
    co_await meet();
    co_await group.step<&Pot::add>(1L);
    co_return group;
}

TEST(GroupMessages, AreOneForEachRankAndItsAnswer) {
    with_counts([](const Counts& counts) -> Task<> {
        const auto group = co_await met_group(3);
        const auto of_step = co_await messages(counts, group.step<&Pot::add>(1L));
        EXPECT_EQ(sum_of(of_step), 2 * (size - 1));
        for (std::size_t rank = 1; rank < size; ++rank) {
            EXPECT_GE(of_step[rank], 1);
        }
        EXPECT_EQ(of_step[0], 2); // Answers of its branches: log2(4).
        const auto of_sum =
            co_await messages(counts, forget(group.reduce<&Pot::get>(std::plus<long>())));
        EXPECT_EQ(sum_of(of_sum), 2 * (size - 1));
    });
}

TEST(GroupMessages, ANodeGetsOne) {
    for (const std::vector<int>& nodes : {std::vector<int>{0, 1, 0, 1}, {1, 0, 0, 0}}) {
        with_counts(
            [](const Counts& counts) -> Task<> {
                const auto group = co_await met_group(2);
                const auto of_step = co_await messages(counts, group.step<&Pot::add>(1L));
                EXPECT_EQ(sum_of(of_step), 2); // Those between nodes are counted alone.
                EXPECT_EQ(of_step[0], 1);
            },
            nodes);
    }
}

TEST(GroupMessages, AMaskedCallTakesNoMore) {
    with_counts([](const Counts& counts) -> Task<> {
        const auto group = co_await met_group(3);
        const auto is_far = [](const Pot&) {
            return here() == 3;
        };
        const auto masked = group.where(is_far);
        EXPECT_EQ(sum_of(co_await messages(counts, masked.step<&Pot::add>(1L))), 2 * (size - 1));
        EXPECT_EQ(
            sum_of(co_await messages(counts, forget(masked.reduce<&Pot::get>(std::plus<long>())))),
            2 * (size - 1));
    });
}

TEST(GroupMessages, AKeptSelectionReachesTheRanksOfItsMembersOnly) {
    with_counts([](const Counts& counts) -> Task<> {
        const auto group = co_await met_group(3);
        const auto is_far = [](const Pot&) {
            return here() == 1 || here() == 3;
        };
        const auto kept = co_await group.select(is_far);
        co_await kept.step<&Pot::add>(1L);
        const auto of_step = co_await messages(counts, kept.step<&Pot::add>(1L));
        EXPECT_EQ(sum_of(of_step), 4);
        EXPECT_EQ(of_step[2], 0);
        EXPECT_EQ(co_await kept.reduce<&Pot::get>(std::plus<long>()), 6 * 3);
        const auto of_end = co_await messages(counts, kept.dissolve());
        EXPECT_EQ(of_end[2], 0);
    });
}

TEST(GroupMessages, AChangeHereTakesNone) {
    with_counts([](const Counts& counts) -> Task<> {
        co_await meet();
        const auto group = co_await create_group<Pot>(all_ranks(), 0L);
        const auto extra = co_await create<Pot>(3, 5L);
        EXPECT_EQ(sum_of(co_await messages(counts, group.add(extra))), 0);
        EXPECT_EQ(co_await group.reduce<&Pot::get>(std::plus<long>()), 5);
    });
}

TEST(GroupMessages, OfARepartitionThatMovesNothingForgetNothing) {
    with_counts([](const Counts& counts) -> Task<> {
        const auto group = co_await met_group(1);
        const auto of_none = co_await messages(counts, group.repartition(all_ranks()));
        for (const std::size_t rank : {1U, 2U, 3U}) {
            EXPECT_EQ(of_none[rank], 1) << "its member is asked to move";
        }
    });
}

TEST(GroupMessages, OfADissolvedGroupGoOutInSpiteOfAStop) {
    with_counts([](const Counts& counts) -> Task<> {
        const auto group = co_await met_group(1);
        const auto end = [](ObjectGroup<Pot> of) -> Task<> {
            std::stop_source stop;
            stop.request_stop();
            auto ending = spawn(of.dissolve(), stop.get_token());
            co_await ending;
            co_await at(1, [] {});
            co_await at(2, [] {});
        };
        const auto of_end = co_await messages(counts, end(group));
        EXPECT_EQ(of_end[1], 2) << "its branches are told, and called";
        EXPECT_EQ(of_end[2], 2);
    });
}

} // namespace
} // namespace corymb

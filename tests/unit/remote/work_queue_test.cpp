// SPDX-License-Identifier: Apache-2.0
#include "remote/among.hpp"
#include "remote/over_nodes.hpp"

#include <corymb/error.hpp>
#include <corymb/scheduler.hpp>
#include <corymb/this_task.hpp>
#include <corymb/when.hpp>
#include <corymb/work_queue.hpp>

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <gtest/gtest.h>
#include <stdexcept>
#include <utility>

namespace corymb {
namespace {

using std::chrono_literals::operator""ms;

/// A piece of a tree that nobody knows before it is walked.
struct Piece {
    std::uint64_t seed;
    int height;
};

std::uint64_t next(std::uint64_t seed) {
    return seed * 6364136223846793005U + 1442695040888963407U;
}
template <class Each>
void for_children(const Piece& piece, const Each& each) {
    std::uint64_t seed = next(piece.seed);
    for (auto left = piece.height == 0 ? 0 : seed >> 33U & 3U; left != 0; --left) {
        seed = next(seed);
        each(Piece{seed, piece.height - 1});
    }
}
/// Pieces, and the sum of their seeds.
struct Tree {
    std::uint64_t pieces = 0;
    std::uint64_t sum = 0;
    friend bool operator==(const Tree&, const Tree&) = default;
};
void walk(const Piece& piece, Tree& tree) {
    ++tree.pieces;
    tree.sum += piece.seed;
    for_children(piece, [&tree](const Piece& child) { walk(child, tree); });
}

struct Sums {
    std::atomic<std::uint64_t> pieces{0};
    std::atomic<std::uint64_t> sum{0};
    [[nodiscard]] Tree take() { return {pieces.exchange(0), sum.exchange(0)}; }
    void add(const Piece& piece) {
        ++pieces;
        sum += piece.seed;
    }
};

Task<> walk_together(Sums& sums, bool is_task) {
    WorkQueue<Piece> queue("tree");
    RankBarrier barrier("runs");
    for (std::uint64_t run = 0; run < 12; ++run) {
        Tree expected;
        for (Rank rank = 0; rank < ranks(); ++rank) { // In each run other ranks have the work.
            if ((run >> (static_cast<unsigned>(rank) % 3) & 1U) != 0) {
                const Piece root{run * 7 + static_cast<std::uint64_t>(rank), 9};
                walk(root, expected);
                if (rank == here()) {
                    queue.push(root);
                }
            }
        }
        if (is_task) {
            co_await queue.run([&](Piece piece) -> Task<> {
                sums.add(piece);
                for_children(piece, [&queue](const Piece& child) { queue.push(child); });
                co_await this_task::yield();
            });
        } else {
            co_await queue.run([&](Piece piece) {
                sums.add(piece);
                for_children(piece, [&queue](const Piece& child) { queue.push(child); });
            });
        }
        EXPECT_EQ(queue.local_size(), 0U);
        co_await barrier.arrive();
        if (here() == 0) {
            EXPECT_EQ(sums.take(), expected) << "run " << run;
        }
        co_await barrier.arrive();
    }
}

class WorkAmong : public testing::TestWithParam<int> {};

TEST_P(WorkAmong, IsDoneOnceAndToItsEnd) {
    for (const bool is_task : {false, true}) {
        Sums sums;
        among(GetParam(), [&sums, is_task](Rank) { return walk_together(sums, is_task); });
    }
}

INSTANTIATE_TEST_SUITE_P(Sizes, WorkAmong, testing::Values(1, 2, 3, 5, 8));

TEST(WorkQueue, LiesOnSeveralNodes) {
    Sums sums;
    over_nodes({0, 1, 0}, [&sums](Rank) { return walk_together(sums, true); });
}

TEST(WorkQueue, IdleRanksGetItemsOfOthers) {
    constexpr int size = 3;
    std::atomic<int> taking_part{0};
    among(size, [&taking_part](Rank rank) -> Task<> {
        WorkQueue<int> queue("stolen");
        if (rank == 1) {
            for (int i = 0; i < 16; ++i) {
                queue.push(i);
            }
        }
        bool is_first = true;
        co_await queue.run([&](int) -> Task<> {
            taking_part += std::exchange(is_first, false) ? 1 : 0;
            while (taking_part != size) { // Ends when all ranks have got an item.
                co_await this_task::sleep_for(1ms);
            }
        });
        EXPECT_GT(queue.done(), 0U);
        EXPECT_GE(queue.stolen() + (rank == 1 ? 16 : 0), queue.done());
    });
}

TEST(WorkQueue, WhatWorkThrowsComesInTheEnd) {
    std::atomic<int> done{0};
    std::atomic<int> thrown{0};
    among(3, [&](Rank rank) -> Task<> {
        WorkQueue<int> queue("throws");
        for (int i = 0; i < 10; ++i) {
            queue.push(10 * rank + i);
        }
        try {
            co_await queue.run([&done](int item) {
                if (item == 15) {
                    throw std::domain_error("no");
                }
                ++done;
            });
        } catch (const std::domain_error&) {
            ++thrown;
        }
    });
    EXPECT_EQ(done, 29);
    EXPECT_EQ(thrown, 1);
}

TEST(WorkQueue, AStoppedRankEndsTheRunOfAll) {
    std::atomic<bool> was_stopped{false};
    among(3, [&was_stopped](Rank rank) -> Task<> {
        WorkQueue<int> queue("stopped");
        if (rank == 2) {
            queue.push(1);
        }
        const auto run = [](WorkQueue<int>& of, const std::atomic<bool>& goes_on) -> Task<> {
            co_await of.run([&goes_on](int) -> Task<> {
                while (!goes_on) {
                    co_await this_task::sleep_for(1ms);
                }
            });
        };
        try {
            if (rank == 0) {
                co_await within(5ms, run(queue, was_stopped));
            } else {
                co_await run(queue, was_stopped);
            }
            ADD_FAILURE() << "the run has come to its end";
        } catch (const Error& error) {
            EXPECT_EQ(error.code(), rank == 0 ? Errc::timeout : Errc::team_broken) << error.what();
            was_stopped = true;
        }
    });
}

} // namespace
} // namespace corymb

// SPDX-License-Identifier: Apache-2.0
// corymb::barrier beside std::barrier: the same random schedules of arrivals, waits and drops must
// give the same phases. The completion function's records are plain: the barrier must order them.
#include "stress.hpp"

#include <base/random.hpp>

#include <corymb/barrier.hpp>

#include <gtest/gtest.h>

#include <barrier>
#include <cstdint>
#include <optional>
#include <thread>
#include <utility>
#include <vector>

namespace corymb {
namespace {

/// What happened in one phase.
struct Phase {
    std::uint64_t arrived = 0; ///< Sum of what the participants had written before.
    bool operator==(const Phase&) const = default;
};

/// Written by the participants before they arrive, read by the completion function.
struct Board {
    explicit Board(int participants) : written(static_cast<std::size_t>(participants)) {}

    void complete() {
        Phase phase;
        for (const std::uint64_t value : written) {
            phase.arrived += value;
        }
        phases.push_back(phase);
    }

    std::vector<std::uint64_t> written;
    std::vector<Phase> phases;
};

struct Complete {
    Board* board;
    void operator()() const noexcept { board->complete(); }
};

/// One participant's whole life under a seed. Everything it does depends on the seed only.
template <class Barrier>
void participate(Barrier& barrier, Board& board, int index, std::uint64_t seed, int phases) {
    Random random(seed * 1000 + static_cast<std::uint64_t>(index));
    // The first participant stays to the end, so that every schedule has all phases.
    const int leaves_after = index == 0 ? phases : 1 + static_cast<int>(random.below(40));
    for (int phase = 0; phase < phases; ++phase) {
        board.written[static_cast<std::size_t>(index)] += 1 + random.below(100);
        if (phase == leaves_after) {
            barrier.arrive_and_drop();
            return;
        }
        if (random.below(3) == 0) {
            auto token = barrier.arrive();
            if (random.below(2) == 0) {
                std::this_thread::yield();
            }
            barrier.wait(std::move(token));
        } else {
            barrier.arrive_and_wait();
        }
        // Everybody sees the phase that has just been completed, and no later one.
        EXPECT_EQ(board.phases.size(), static_cast<std::size_t>(phase) + 1);
    }
}

template <template <class> class Barrier>
std::vector<Phase> play(int participants, std::uint64_t seed, int phases) {
    Board board(participants);
    Barrier<Complete> barrier(participants, Complete{&board});
    {
        std::vector<std::jthread> threads;
        for (int index = 0; index < participants; ++index) {
            threads.emplace_back([&, index] { participate(barrier, board, index, seed, phases); });
        }
    }
    return board.phases;
}

TEST(BarrierModelTest, SchedulesGiveThePhasesOfTheStandardBarrier) {
    for (const int participants : {1, 2, 3, 5, 9}) {
        for (std::uint64_t seed = 1; seed <= stress::rounds(10); ++seed) {
            const auto expected = play<std::barrier>(participants, seed, 60);
            const auto actual = play<corymb::barrier>(participants, seed, 60);
            ASSERT_EQ(expected.size(), 60U);
            EXPECT_EQ(actual, expected) << participants << " participants, seed " << seed;
        }
    }
}

TEST(BarrierModelTest, OneThreadArrivesForSeveral) {
    // 5 expected: one thread brings 3 and does not wait, two bring one each and wait.
    Board board(3);
    corymb::barrier<Complete> barrier(5, Complete{&board});
    constexpr int phases = 200;
    {
        std::vector<std::jthread> threads;
        for (int index = 0; index < 3; ++index) {
            threads.emplace_back([&, index] {
                for (int phase = 0; phase < phases; ++phase) {
                    board.written[static_cast<std::size_t>(index)] += 1;
                    barrier.wait(barrier.arrive(index == 0 ? 3 : 1));
                    EXPECT_EQ(board.phases.size(), static_cast<std::size_t>(phase) + 1);
                }
            });
        }
    }
    ASSERT_EQ(board.phases.size(), static_cast<std::size_t>(phases));
    EXPECT_EQ(board.phases.back().arrived, 3U * phases);
}

TEST(BarrierModelTest, EverybodyDrops) {
    Board board(4);
    corymb::barrier<Complete> barrier(4, Complete{&board});
    {
        std::vector<std::jthread> threads;
        for (int index = 0; index < 4; ++index) {
            threads.emplace_back([&, index] {
                for (int phase = 0; phase < index; ++phase) {
                    barrier.arrive_and_wait();
                }
                board.written[static_cast<std::size_t>(index)] = 1;
                barrier.arrive_and_drop();
            });
        }
    }
    // Participant i drops in phase i: four phases, one more writer in each.
    EXPECT_EQ(board.phases, (std::vector<Phase>{{1}, {2}, {3}, {4}}));
}

} // namespace
} // namespace corymb

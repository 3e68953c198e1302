// SPDX-License-Identifier: Apache-2.0
#include "base/clock.hpp"
#include "channel/wait_ladder.hpp"
#include "crowd_memory.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <utility>

namespace corymb::channel {
namespace {

constexpr std::int64_t deadline_ns = 50'000'000;

/// A rank that takes turns with another on a CPU.
class CrowdedRank {
public:
    WaitLadder& ladder() { return ladder_; }

private:
    CrowdMemory memory_{2, 1};
    WaitLadder::Spot spot_;
    WaitLadder::Gate gate_;
    WaitLadder::Flag broken_{0};
    WaitLadder ladder_{spot_,
                       gate_,
                       broken_,
                       {.ranks_per_cpu = 2, .deadline_ns = deadline_ns, .crowd = &memory_.crowd()}};
};

/// How long a rank stays awake in a wait without an end, in the second of two operations: until the
/// longest time without a look. The least of some attempts, for others want the CPU, too.
std::int64_t awake_ns(std::uint64_t bytes_before, std::uint64_t bytes) {
    std::int64_t least = deadline_ns;
    for (int attempt = 0; attempt < 5; ++attempt) {
        CrowdedRank rank;
        rank.ladder().begin_operation(bytes_before);
        rank.ladder().begin_operation(bytes);
        const std::int64_t begin = now_ns();
        std::int64_t latest = begin;
        std::int64_t longest = 0;
        std::int64_t awake = 0;
        auto never = [&]() noexcept {
            const std::int64_t before = std::exchange(latest, now_ns());
            if (latest - before > longest) {
                longest = latest - before;
                awake = before - begin;
            }
            return false;
        };
        EXPECT_FALSE(rank.ladder().until(never, bytes));
        EXPECT_TRUE(rank.ladder().timed_out());
        static_cast<void>(never());
        least = std::min(least, awake);
    }
    return least;
}

TEST(WaitLadderTest, StaysAwakeWhileTeammatesMoveWhatTheyHadToMoveBefore) {
    constexpr std::uint64_t many = 16 << 20; // Of two ranks, at 2 GB/s: 16 ms.
    EXPECT_LT(awake_ns(0, 0), 10'000'000);
    EXPECT_GT(awake_ns(0, many), 15'000'000);
    EXPECT_GT(awake_ns(many, 0), 15'000'000) << "a barrier behind a long operation";
}

} // namespace
} // namespace corymb::channel

// SPDX-License-Identifier: Apache-2.0
#include "base/clock.hpp"
#include "base/membarrier.hpp"
#include "channel/wait_ladder.hpp"
#include "crowd_memory.hpp"
#include "refuse_call.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <functional>
#include <stdexcept>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>
#include <utility>

namespace corymb::channel {
namespace {

constexpr std::int64_t deadline_ns = 60'000'000;
constexpr std::uint64_t many = 16 << 20; ///< Of two ranks, at 2 GB/s: 16 ms.
constexpr std::int64_t few_ns = 10'000'000;
constexpr std::int64_t long_ns = 15'000'000;

/// A rank of an oversubscribed team.
class CrowdedRank {
public:
    explicit CrowdedRank(int ranks_per_cpu)
        : ladder_(spot_, broken_,
                  {.oversubscribed = true,
                   .ranks_per_cpu = ranks_per_cpu,
                   .deadline_ns = deadline_ns,
                   .crowd = &memory_.crowd()}) {}

    WaitLadder& ladder() { return ladder_; }

private:
    CrowdMemory memory_{2, 1};
    WaitLadder::Spot spot_;
    WaitLadder::Flag broken_{0};
    WaitLadder ladder_;
};

using History = std::function<void(WaitLadder&)>;

/// How long a rank stays awake in a wait of no bytes and without an end, after what `history` has
/// begun: until the longest time without a look.
std::int64_t awake_ns(const History& history, int ranks_per_cpu) {
    CrowdedRank rank(ranks_per_cpu);
    history(rank.ladder());
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
    EXPECT_FALSE(rank.ladder().until(never, 0));
    EXPECT_TRUE(rank.ladder().timed_out());
    static_cast<void>(never());
    return awake;
}

/// Some attempts, for others want the CPU, too.
bool sleeps_soon(const History& history, int ranks_per_cpu = 2) {
    for (int attempt = 0; attempt < 10; ++attempt) {
        if (awake_ns(history, ranks_per_cpu) < few_ns) {
            return true;
        }
    }
    return false;
}

bool stays_awake(const History& history) {
    for (int attempt = 0; attempt < 10; ++attempt) {
        if (awake_ns(history, 2) > long_ns) {
            return true;
        }
    }
    return false;
}

TEST(WaitLadderTest, StaysAwakeWhileTeammatesMoveTheirBytes) {
    EXPECT_TRUE(sleeps_soon([](WaitLadder& ladder) {
        ladder.begin_operation(0);
        ladder.begin_operation(0);
    }));
    EXPECT_TRUE(stays_awake([](WaitLadder& ladder) {
        ladder.begin_operation(many);
        ladder.begin_operation(0);
    })) << "a barrier behind a long operation";
    EXPECT_TRUE(stays_awake([](WaitLadder& ladder) {
        ladder.begin_operation(0);
        ladder.begin_operation(many);
    })) << "a short operation before a long one that has begun, too";
    EXPECT_TRUE(stays_awake([](WaitLadder& ladder) {
        ladder.begin_operation(many);
        ladder.begin_to_move(0);
    })) << "a message behind a long operation";
}

TEST(WaitLadderTest, ForgetsWhatIsLongOver) {
    EXPECT_TRUE(sleeps_soon([](WaitLadder& ladder) {
        ladder.begin_operation(many);
        ladder.begin_operation(0);
        ladder.begin_operation(0);
    }));
    EXPECT_TRUE(sleeps_soon([](WaitLadder& ladder) {
        ladder.begin_operation(many);
        ladder.begin_to_move(0);
        ladder.begin_to_move(0);
    })) << "messages";
}

TEST(WaitLadderTest, SleepsSoonWhereOnlyTheQuotaIsShort) {
    const History history = [](WaitLadder& ladder) {
        ladder.begin_operation(many);
    };
    EXPECT_TRUE(sleeps_soon(history, 1));
}

/// What ends a wait comes with what is awaited.
struct Breaker final : Watch {
    bool is_lost() noexcept override {
        word.store(1, std::memory_order_relaxed);
        if (breaks) {
            WaitLadder::end_waits(broken);
        }
        return !breaks;
    }
    StandardEnv::Atomic<std::uint32_t> word{0};
    WaitLadder::Flag broken{0};
    bool breaks = false;
};

TEST(WaitLadderTest, WhatHasComeIsNotGivenUp) {
    for (const WaitPolicy policy : {WaitPolicy::spin, WaitPolicy::park}) {
        for (const bool breaks : {false, true}) {
            WaitLadder::Spot spot;
            Breaker breaker;
            breaker.breaks = breaks;
            WaitLadder ladder(spot, breaker.broken,
                              {.policy = policy, .deadline_ns = 10'000'000'000, .watch = &breaker});
            std::uint32_t seen = 0;
            EXPECT_TRUE(ladder.await(
                breaker.word, std::memory_order_acquire,
                [](std::uint32_t value) { return value == 1; }, seen));
            EXPECT_FALSE(ladder.is_lost());
            EXPECT_FALSE(ladder.timed_out());
            EXPECT_EQ(breaker.broken.load(std::memory_order_relaxed), breaks ? 1U : 0U);
        }
    }
}

/// In a child, as nothing is undone: waits in vain that sleep for wakers of other processes. Exit
/// status 0: once the process has found heavy fences dear, only its first sleep has one.
int sleeps_without_heavy_fences() {
    if (!membarrier::join_machine()) {
        return 0; // There are none.
    }
    WaitLadder::Spot spot(Reach::machine);
    WaitLadder::Flag broken{0};
    WaitLadder ladder(spot, broken, {.policy = WaitPolicy::park, .deadline_ns = 1'000'000});
    auto never = []() noexcept {
        return false;
    };
    membarrier::use_full_fences();
    static_cast<void>(ladder.until(never, 0));
    try {
        die_of_call(SYS_membarrier);
    } catch (const std::runtime_error&) {
        return 0; // Emulated machines have no filters.
    }
    static_cast<void>(ladder.until(never, 0));
    return 0;
}

TEST(WaitLadderTest, SparesHeavyFencesThatAreDear) {
    const pid_t child = ::fork();
    if (child == 0) {
        ::_exit(sleeps_without_heavy_fences());
    }
    int status = -1;
    ASSERT_EQ(::waitpid(child, &status, 0), child);
    EXPECT_EQ(status, 0);
}

/// Counts, and has the wait go on.
struct Visitor final : Watch {
    bool is_lost() noexcept override {
        ++visits;
        return false;
    }
    std::int64_t visits = 0;
};

/// Waits in vain, often enough to take so long together; how many visits there were and how many
/// milliseconds it took.
std::pair<std::int64_t, double> visits_of_sleeper(std::int64_t each_ns, std::int64_t all_ns,
                                                  bool urgent) {
    WaitLadder::Spot spot;
    WaitLadder::Flag broken{0};
    Visitor visitor;
    WaitLadder ladder(spot, broken,
                      {.policy = WaitPolicy::park,
                       .oversubscribed = true,
                       .deadline_ns = each_ns,
                       .visitor = &visitor,
                       .visitor_every_ns = 20'000});
    ladder.set_visits_urgent(urgent);
    auto never = []() noexcept {
        return false;
    };
    const std::int64_t begin = now_ns();
    do {
        EXPECT_FALSE(ladder.until(never, 0));
    } while (now_ns() - begin < all_ns);
    return {visitor.visits, static_cast<double>(now_ns() - begin) / 1e6};
}

TEST(WaitLadderTest, ASleeperOnACrowdedCpuIsVisitedOnceAMillisecond) {
    const auto [long_visits, long_ms] = visits_of_sleeper(30'000'000, 1, false);
    EXPECT_GE(long_visits, 1);
    EXPECT_LE(static_cast<double>(long_visits), long_ms + 1);
    const auto [short_visits, short_ms] = visits_of_sleeper(200'000, 20'000'000, false);
    EXPECT_GE(short_visits, 3) << "waits shorter than that have some, too";
    EXPECT_LE(static_cast<double>(short_visits), short_ms + 1);
}

TEST(WaitLadderTest, ASleeperIsVisitedMoreOftenWhereThatIsUrgent) {
    bool is_visited_sooner = false; // The kernel may wake it late.
    for (int attempt = 0; attempt < 50 && !is_visited_sooner; ++attempt) {
        const auto [visits, ms] = visits_of_sleeper(5'000'000, 1, true);
        is_visited_sooner = static_cast<double>(visits) > ms + 1;
    }
    EXPECT_TRUE(is_visited_sooner);
}

} // namespace
} // namespace corymb::channel

// SPDX-License-Identifier: Apache-2.0
// What the explorer reports, and that its report can be repeated.
#include "explorer/env.hpp"

#include <gtest/gtest.h>

#include <set>
#include <tuple>

namespace {

using namespace corymb::verify;

constexpr auto relaxed = std::memory_order_relaxed;
constexpr auto acquire = std::memory_order_acquire;
constexpr auto release = std::memory_order_release;

template <std::memory_order Publish>
struct Mailbox {
    static constexpr int threads = 2;
    ExplorerEnv::Atomic<std::uint32_t> full;
    ExplorerEnv::Bytes<8> letter;

    Mailbox() { Explorer::current().name(this, sizeof *this, "mailbox"); }
    void run(int thread) {
        std::uint64_t value = 42;
        if (thread == 0) {
            letter.put(&value, sizeof value);
            full.store(1, Publish);
        } else {
            full.await(acquire, [](std::uint32_t v) { return v == 1; });
            std::memcpy(&value, letter.view(8), sizeof value);
            require(value == 42, "the letter is there");
        }
    }
};

TEST(Explorer, PassesWhatIsPublished) {
    const Result result = explore<Mailbox<release>>();
    EXPECT_FALSE(result.violated) << result.error;
    EXPECT_TRUE(result.complete);
    EXPECT_EQ(result.executions, 1u);
}

TEST(Explorer, NamesBothSidesOfARace) {
    const Result result = explore<Mailbox<relaxed>>();
    EXPECT_TRUE(result.violated);
    EXPECT_NE(result.error.find("race: read of mailbox"), std::string::npos) << result.error;
    EXPECT_NE(result.error.find("write by a at explorer_test.cpp:"), std::string::npos);
    EXPECT_FALSE(result.trace.empty());
}

struct WritesAfterRelease {
    static constexpr int threads = 2;
    ExplorerEnv::Atomic<int> full;
    ExplorerEnv::Bytes<1> letter;
    void run(int thread) {
        const char value = 1;
        if (thread == 0) {
            full.store(1, release);
            letter.put(&value, 1);
        } else if (full.load(acquire) == 1) {
            static_cast<void>(letter.view(1));
        }
    }
};

TEST(Explorer, FindsARaceWithAnAccessAfterTheRelease) {
    EXPECT_TRUE(explore<WritesAfterRelease>().violated);
}

TEST(Explorer, ReplayRepeatsTheFailure) {
    const Program program = program_of<Mailbox<relaxed>>();
    const Result first = Explorer{}.explore(program, {});
    const Result again = Explorer{}.replay(program, {}, first.replay);
    EXPECT_TRUE(again.violated);
    EXPECT_EQ(again.error, first.error);
    EXPECT_EQ(again.trace, first.trace);
}

TEST(Explorer, RejectsAReplayThatDoesNotFit) {
    const Program program = program_of<Mailbox<release>>();
    EXPECT_NE(Explorer{}.replay(program, {}, "abz").error.find("does not fit"), std::string::npos);
}

struct Circle {
    static constexpr int threads = 2;
    ExplorerEnv::Atomic<int> flag[2];
    void run(int thread) {
        flag[thread].await(acquire, [](int v) { return v != 0; });
        flag[1 - thread].store(1, release);
    }
};

TEST(Explorer, FindsADeadlockAndSaysWhoWaits) {
    const Result result = explore<Circle>();
    EXPECT_TRUE(result.violated);
    EXPECT_NE(result.error.find("deadlock: a waits for"), std::string::npos) << result.error;
}

struct Spinner {
    static constexpr int threads = 1;
    ExplorerEnv::Atomic<int> flag;
    void run(int) {
        while (flag.load(relaxed) == 0) {
        }
    }
};

TEST(Explorer, FindsALivelock) {
    EXPECT_NE(explore<Spinner>().error.find("livelock"), std::string::npos);
}

struct Sleeper {
    static constexpr int threads = 2;
    ExplorerEnv::Atomic<std::uint32_t> word;
    bool wakes = true;
    void run(int thread) {
        if (thread == 0) {
            while (word.load(acquire) == 0) {
                ExplorerEnv::futex_wait(word, 0, 1);
            }
        } else {
            word.store(1, release);
            if (wakes) {
                ExplorerEnv::futex_wake(word, 1);
            }
        }
    }
};
struct Unwoken : Sleeper {
    Unwoken() { wakes = false; }
};

TEST(Explorer, FutexComparesAndSleepsInOneStep) {
    const Result result = explore<Sleeper>();
    EXPECT_FALSE(result.violated) << result.error;
    EXPECT_TRUE(explore<Sleeper>({.fault = Fault::no_futex_compare}).violated);
}

TEST(Explorer, ALostWakeUpIsADeadlock) {
    EXPECT_NE(explore<Unwoken>().error.find("sleeps on"), std::string::npos);
}

struct SleepsOnce : Sleeper {
    void run(int thread) {
        if (thread == 0) {
            ExplorerEnv::futex_wait(word, 0, 1);
            require(word.load(relaxed) == 1, "woken by the store");
        } else {
            word.store(1, relaxed);
            ExplorerEnv::futex_wake(word, 1);
        }
    }
};

TEST(Explorer, SpuriousWakeUpsAreOptional) {
    EXPECT_TRUE(explore<SleepsOnce>({.spurious_wakeups = 1}).violated);
}

/// Every outcome of three threads that store and load; the reductions must not lose one.
struct Mixed {
    static constexpr int threads = 3;
    ExplorerEnv::Atomic<int> x, y;
    int r[4] = {};
    static inline std::set<std::tuple<int, int, int, int, int, int>> outcomes;

    void run(int thread) {
        if (thread == 0) {
            x.store(1, relaxed);
            r[0] = y.load(acquire);
        } else if (thread == 1) {
            r[1] = x.exchange(2, release);
            y.store(3, release);
        } else {
            r[2] = y.fetch_add(4, relaxed);
            r[3] = x.load(acquire);
        }
    }
    void finish() { outcomes.emplace(r[0], r[1], r[2], r[3], x.load(relaxed), y.load(relaxed)); }
};

/// The same for fences, which commute less.
struct Fenced {
    static constexpr int threads = 2;
    ExplorerEnv::Atomic<int> x, y;
    int r[3] = {};
    static inline std::set<std::tuple<int, int, int>> outcomes;

    void run(int thread) {
        if (thread == 0) {
            x.store(1, relaxed);
            ExplorerEnv::light_fence();
            r[0] = y.load(relaxed);
            ExplorerEnv::fence(std::memory_order_seq_cst);
            r[1] = y.load(relaxed);
        } else {
            y.store(1, relaxed);
            ExplorerEnv::heavy_fence();
            r[2] = x.load(relaxed);
        }
    }
    void finish() { outcomes.emplace(r[0], r[1], r[2]); }
};

/// The same for the kernel's queue.
struct Queued {
    static constexpr int threads = 3;
    ExplorerEnv::Atomic<std::uint32_t> x, y;
    std::uint32_t r[2] = {};
    static inline std::set<std::tuple<std::uint32_t, std::uint32_t>> outcomes;

    void run(int thread) {
        if (thread < 2) {
            (thread == 0 ? x : y).store(1, relaxed);
            ExplorerEnv::futex_wake(x, 1);
        } else {
            ExplorerEnv::futex_wait(x, 0, 1);
            r[0] = y.load(relaxed);
            r[1] = x.exchange(2, relaxed);
        }
    }
    void finish() { outcomes.emplace(r[0], r[1] + 10 * x.load(relaxed)); }
};

template <class World>
void expect_reduction_loses_nothing() {
    World::outcomes.clear();
    const Result reduced = explore<World>();
    const auto of_reduced = World::outcomes;
    World::outcomes.clear();
    const Result all = explore<World>({.reduced = false});
    EXPECT_EQ(reduced.error, all.error);
    EXPECT_EQ(of_reduced, World::outcomes);
    EXPECT_LT(reduced.executions, all.executions / 3);
}

TEST(Explorer, TheReductionLosesNoOutcome) {
    expect_reduction_loses_nothing<Mixed>();
    expect_reduction_loses_nothing<Fenced>();
    expect_reduction_loses_nothing<Queued>();
}

TEST(Explorer, RandomWalksDependOnTheSeedOnly) {
    const Options options{.executions_max = 200, .random = true, .seed = 7};
    Mixed::outcomes.clear();
    const Result first = explore<Mixed>(options);
    const auto outcomes = Mixed::outcomes;
    Mixed::outcomes.clear();
    const Result second = explore<Mixed>(options);
    EXPECT_EQ(first.steps, second.steps);
    EXPECT_EQ(outcomes, Mixed::outcomes);
    EXPECT_GT(outcomes.size(), 10u);
}

TEST(Explorer, PreemptionBoundIsABound) {
    EXPECT_LT(explore<Mixed>({.preemptions_max = 0}).executions,
              explore<Mixed>({.preemptions_max = 2}).executions);
}

} // namespace

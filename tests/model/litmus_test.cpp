// SPDX-License-Identifier: Apache-2.0
// The explorer's memory model, outcome by outcome. "no" rows say that it is strong enough to pass
// correct code; "yes" rows that it is weak enough to reject wrong code.
// docs/explain/verification.md has the same table.
#include "explorer/env.hpp"

#include <gtest/gtest.h>

namespace {

using corymb::verify::AwaitWaiter;
using corymb::verify::Explorer;
using corymb::verify::ExplorerEnv;
using corymb::verify::Instance;
using corymb::verify::Options;
using corymb::verify::Program;
using corymb::verify::Result;

constexpr auto relaxed = std::memory_order_relaxed;
constexpr auto acquire = std::memory_order_acquire;
constexpr auto release = std::memory_order_release;
constexpr auto acq_rel = std::memory_order_acq_rel;
constexpr auto seq_cst = std::memory_order_seq_cst;

struct State {
    ExplorerEnv::Atomic<int> x, y, z;
    int r[4] = {-1, -1, -1, -1};
};

/// Whether some execution of `body` ends with `outcome`.
template <class Body, class Outcome>
bool reachable(int threads, Body body, Outcome outcome) {
    struct World final : Instance {
        World(Body& b, Outcome& o, bool& h) : body(b), outcome(o), hit(h) {}
        void run(int thread) override { body(state, thread); }
        void finish() override { hit = hit || outcome(state); }
        State state;
        Body& body;
        Outcome& outcome;
        bool& hit;
    };
    bool hit = false;
    const Program program{threads, [&] {
                              return std::make_unique<World>(body, outcome, hit);
                          }};
    const Result result = Explorer{}.explore(program, Options{});
    EXPECT_TRUE(result.complete);
    EXPECT_FALSE(result.violated) << result.error;
    return hit;
}

const auto both_zero = [](const State& s) {
    return s.r[0] == 0 && s.r[1] == 0;
};
const auto new_then_old = [](const State& s) {
    return s.r[0] == 1 && s.r[1] == 0;
};

/// Store buffering with `between` between a thread's store and its load.
template <class Between>
bool store_buffering(std::memory_order store, std::memory_order load, Between between) {
    return reachable(
        2,
        [=](State& s, int thread) {
            (thread == 0 ? s.x : s.y).store(1, store);
            between(thread);
            s.r[thread] = (thread == 0 ? s.y : s.x).load(load);
        },
        both_zero);
}

const auto nothing = [](int) {
};

TEST(Litmus, StoreBufferingRelaxed) {
    EXPECT_TRUE(store_buffering(relaxed, relaxed, nothing));
}
TEST(Litmus, StoreBufferingReleaseAcquire) {
    EXPECT_TRUE(store_buffering(release, acquire, nothing));
}
TEST(Litmus, StoreBufferingSeqCstAccesses) {
    EXPECT_FALSE(store_buffering(seq_cst, seq_cst, nothing));
}
TEST(Litmus, StoreBufferingSeqCstStoresOnly) {
    EXPECT_TRUE(store_buffering(seq_cst, relaxed, nothing));
}
TEST(Litmus, StoreBufferingSeqCstFences) {
    EXPECT_FALSE(store_buffering(relaxed, relaxed, [](int) { ExplorerEnv::fence(seq_cst); }));
}
TEST(Litmus, StoreBufferingOneSeqCstFence) {
    EXPECT_TRUE(store_buffering(
        relaxed, relaxed, [](int thread) { ExplorerEnv::fence(thread == 0 ? seq_cst : acq_rel); }));
}
TEST(Litmus, StoreBufferingLightAndHeavy) {
    EXPECT_FALSE(store_buffering(relaxed, relaxed, [](int thread) {
        thread == 0 ? ExplorerEnv::light_fence() : ExplorerEnv::heavy_fence();
    }));
}
TEST(Litmus, StoreBufferingTwoHeavy) {
    EXPECT_FALSE(store_buffering(relaxed, relaxed, [](int) { ExplorerEnv::heavy_fence(); }));
}
TEST(Litmus, StoreBufferingTwoLight) {
    EXPECT_TRUE(store_buffering(relaxed, relaxed, [](int) { ExplorerEnv::light_fence(); }));
}
TEST(Litmus, StoreBufferingHeavyAlone) {
    EXPECT_TRUE(store_buffering(relaxed, relaxed, [](int thread) {
        if (thread == 1) {
            ExplorerEnv::heavy_fence();
        }
    }));
}
TEST(Litmus, StoreBufferingLightAndHeavyWithAThirdThreadBetween) {
    // The heavy fence reaches thread 2 before thread 0, which learns of thread 2's later store
    // without thread 2's earlier one: membarrier(2) on a weak machine allows it.
    EXPECT_TRUE(reachable(
        3,
        [](State& s, int thread) {
            if (thread == 0) {
                s.r[0] = s.z.load(relaxed);
                ExplorerEnv::light_fence();
                s.r[1] = s.x.load(relaxed);
            } else if (thread == 1) {
                s.x.store(1, relaxed);
                ExplorerEnv::heavy_fence();
                s.r[2] = s.y.load(relaxed);
            } else {
                s.y.store(1, relaxed);
                ExplorerEnv::light_fence();
                s.r[3] = s.x.load(relaxed);
                s.z.store(1, relaxed);
            }
        },
        [](const State& s) { return s.r[0] == 1 && s.r[1] == 0 && s.r[2] == 0 && s.r[3] == 1; }));
}

/// Message passing: y says that x is there.
bool message_passing(std::memory_order publish, std::memory_order see, bool fences = false) {
    return reachable(
        2,
        [=](State& s, int thread) {
            if (thread == 0) {
                s.x.store(1, relaxed);
                if (fences) {
                    ExplorerEnv::fence(release);
                }
                s.y.store(1, publish);
            } else {
                s.r[0] = s.y.load(see);
                if (fences) {
                    ExplorerEnv::fence(acquire);
                }
                s.r[1] = s.x.load(relaxed);
            }
        },
        new_then_old);
}

TEST(Litmus, MessagePassingRelaxed) {
    EXPECT_TRUE(message_passing(relaxed, relaxed));
}
TEST(Litmus, MessagePassingReleaseOnly) {
    EXPECT_TRUE(message_passing(release, relaxed));
}
TEST(Litmus, MessagePassingAcquireOnly) {
    EXPECT_TRUE(message_passing(relaxed, acquire));
}
TEST(Litmus, MessagePassingReleaseAcquire) {
    EXPECT_FALSE(message_passing(release, acquire));
}
TEST(Litmus, MessagePassingFences) {
    EXPECT_FALSE(message_passing(relaxed, relaxed, true));
}

TEST(Litmus, LoadBufferingIsNotCovered) {
    // C++ allows it; executions follow program order and reads here, so this machine cannot.
    EXPECT_FALSE(reachable(
        2,
        [](State& s, int thread) {
            s.r[thread] = (thread == 0 ? s.x : s.y).load(relaxed);
            (thread == 0 ? s.y : s.x).store(1, relaxed);
        },
        [](const State& s) { return s.r[0] == 1 && s.r[1] == 1; }));
}

/// Independent reads of independent writes.
bool readers_disagree(std::memory_order store, std::memory_order load, bool fences = false) {
    return reachable(
        4,
        [=](State& s, int thread) {
            if (thread < 2) {
                (thread == 0 ? s.x : s.y).store(1, store);
                return;
            }
            const int at = 2 * (thread - 2);
            s.r[at] = (thread == 2 ? s.x : s.y).load(load);
            if (fences) {
                ExplorerEnv::fence(seq_cst);
            }
            s.r[at + 1] = (thread == 2 ? s.y : s.x).load(load);
        },
        [](const State& s) { return s.r[0] == 1 && s.r[1] == 0 && s.r[2] == 1 && s.r[3] == 0; });
}

TEST(Litmus, IndependentReadsReleaseAcquire) {
    EXPECT_TRUE(readers_disagree(release, acquire));
}
TEST(Litmus, IndependentReadsSeqCstAccesses) {
    EXPECT_FALSE(readers_disagree(seq_cst, seq_cst));
}
TEST(Litmus, IndependentReadsSeqCstFences) {
    EXPECT_FALSE(readers_disagree(relaxed, relaxed, true));
}

/// 2+2W: each location ends with the store that its thread made first.
bool writes_disagree(bool fences) {
    return reachable(
        2,
        [=](State& s, int thread) {
            (thread == 0 ? s.x : s.y).store(1, relaxed);
            if (fences) {
                ExplorerEnv::fence(seq_cst);
            }
            (thread == 0 ? s.y : s.x).store(2, relaxed);
        },
        [](const State& s) { return s.x.load(relaxed) == 1 && s.y.load(relaxed) == 1; });
}

TEST(Litmus, TwoPlusTwoWritesRelaxed) {
    EXPECT_TRUE(writes_disagree(false));
}
TEST(Litmus, TwoPlusTwoWritesSeqCstFences) {
    EXPECT_FALSE(writes_disagree(true));
}

TEST(Litmus, CoherenceOfReads) {
    EXPECT_FALSE(reachable(
        2,
        [](State& s, int thread) {
            if (thread == 0) {
                s.x.store(1, relaxed);
            } else {
                s.r[0] = s.x.load(relaxed);
                s.r[1] = s.x.load(relaxed);
            }
        },
        new_then_old));
}

TEST(Litmus, CoherenceOfTwoWritersForTwoReaders) {
    EXPECT_FALSE(reachable(
        4,
        [](State& s, int thread) {
            if (thread < 2) {
                s.x.store(thread + 1, relaxed);
                return;
            }
            const int at = 2 * (thread - 2);
            s.r[at] = s.x.load(relaxed);
            s.r[at + 1] = s.x.load(relaxed);
        },
        [](const State& s) { return s.r[0] == 1 && s.r[1] == 2 && s.r[2] == 2 && s.r[3] == 1; }));
}

/// WRC (three threads) and ISA2 (the last link in another location) with the given orders.
bool causality_breaks(std::memory_order publish, std::memory_order see, bool via_z) {
    return reachable(
        3,
        [=](State& s, int thread) {
            if (thread == 0) {
                s.x.store(1, relaxed);
                s.y.store(1, publish);
            } else if (thread == 1) {
                if (s.y.load(see) == 1) {
                    (via_z ? s.z : s.y).store(2, publish);
                }
            } else {
                s.r[0] = (via_z ? s.z : s.y).load(see) == 2 ? 1 : 0;
                s.r[1] = s.x.load(relaxed);
            }
        },
        new_then_old);
}

TEST(Litmus, WriteToReadCausality) {
    EXPECT_FALSE(causality_breaks(release, acquire, false));
    EXPECT_TRUE(causality_breaks(relaxed, relaxed, false));
}
TEST(Litmus, Isa2) {
    EXPECT_FALSE(causality_breaks(release, acquire, true));
    EXPECT_TRUE(causality_breaks(relaxed, acquire, true));
}

TEST(Litmus, ReleaseSequenceGoesThroughReadModifyWrite) {
    EXPECT_FALSE(reachable(
        3,
        [](State& s, int thread) {
            if (thread == 0) {
                s.x.store(1, relaxed);
                s.y.store(1, release);
            } else if (thread == 1) {
                s.y.fetch_add(1, relaxed);
            } else {
                s.r[0] = s.y.load(acquire) == 2 ? 1 : 0;
                s.r[1] = s.x.load(relaxed);
            }
        },
        new_then_old));
}
TEST(Litmus, ReleaseSequenceEndsAtAPlainStoreOfTheSameThread) {
    EXPECT_TRUE(reachable(
        2,
        [](State& s, int thread) {
            if (thread == 0) {
                s.x.store(1, relaxed);
                s.y.store(1, release);
                s.y.store(2, relaxed);
            } else {
                s.r[0] = s.y.load(acquire) == 2 ? 1 : 0;
                s.r[1] = s.x.load(relaxed);
            }
        },
        new_then_old));
}

TEST(Litmus, ReadModifyWriteIsAtomic) {
    EXPECT_FALSE(reachable(
        3, [](State& s, int) { s.x.fetch_add(1, relaxed); },
        [](const State& s) { return s.x.load(relaxed) != 3; }));
}
TEST(Litmus, NoStoreBetweenReadAndWriteOfAnExchange) {
    // Both exchanges reading the initial value would lose one of them.
    EXPECT_FALSE(reachable(
        2, [](State& s, int thread) { s.r[thread] = s.x.exchange(thread + 1, relaxed); },
        both_zero));
}
TEST(Litmus, AStoreMayComeBeforeAnExchangeThatDidNotSeeIt) {
    EXPECT_TRUE(reachable(
        2,
        [](State& s, int thread) {
            if (thread == 0) {
                s.x.store(1, relaxed);
            } else {
                s.r[0] = s.x.exchange(2, relaxed);
            }
        },
        [](const State& s) { return s.r[0] == 0 && s.x.load(relaxed) == 1; }));
}

} // namespace

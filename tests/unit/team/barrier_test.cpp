// SPDX-License-Identifier: Apache-2.0
// corymb::barrier does what std::barrier does.
#include <corymb/barrier.hpp>
#include <corymb/error.hpp>

#include <gtest/gtest.h>

#include <atomic>
#include <barrier>
#include <chrono>
#include <thread>
#include <vector>

namespace {

template <template <class> class Kind>
struct Made {
    static constexpr int size = 5, rounds = 400;

    static std::vector<int> completion_log() {
        std::atomic<int> arrived{0};
        std::vector<int> log;
        auto complete = [&]() noexcept {
            log.push_back(arrived.load(std::memory_order_relaxed));
        };
        Kind<decltype(complete)> barrier(size, complete);
        {
            std::vector<std::jthread> crew;
            for (int i = 0; i < size; ++i) {
                crew.emplace_back([&] {
                    for (int round = 0; round < rounds; ++round) {
                        arrived.fetch_add(1, std::memory_order_relaxed);
                        barrier.arrive_and_wait();
                    }
                });
            }
        }
        return log;
    }
};

template <class F>
using StdBarrier = std::barrier<F>;
template <class F>
using OurBarrier = corymb::barrier<F>;

TEST(BarrierTest, CompletionRunsOnceAPhaseAsInTheStandardLibrary) {
    const auto ours = Made<OurBarrier>::completion_log();
    EXPECT_EQ(ours, Made<StdBarrier>::completion_log());
    ASSERT_EQ(ours.size(), 400u);
    EXPECT_EQ(ours.back(), 2000);
}

TEST(BarrierTest, WaitsAsItsOptionsSay) {
    using corymb::WaitPolicy;
    for (const auto policy :
         {WaitPolicy::ladder, WaitPolicy::spin, WaitPolicy::yield, WaitPolicy::park}) {
        for (const int ranks_per_cpu : {0, 1, 4}) {
            corymb::barrier barrier(3, {.wait = policy, .ranks_per_cpu = ranks_per_cpu});
            std::atomic<int> passed{0};
            {
                std::vector<std::jthread> crew;
                for (int i = 0; i < 3; ++i) {
                    crew.emplace_back([&] {
                        for (int round = 0; round < 20; ++round) {
                            passed.fetch_add(1, std::memory_order_relaxed);
                            barrier.arrive_and_wait();
                            EXPECT_GE(passed.load(std::memory_order_relaxed), 3 * (round + 1));
                        }
                    });
                }
            }
        }
    }
    EXPECT_THROW(corymb::barrier(2, corymb::BarrierOptions{.ranks_per_cpu = -1}), corymb::Error);
}

TEST(BarrierTest, ArriveAndDropLeavesTheOthers) {
    corymb::barrier barrier(3);
    std::atomic<int> passed{0};
    {
        std::vector<std::jthread> crew;
        for (int i = 0; i < 3; ++i) {
            crew.emplace_back([&, i] {
                barrier.arrive_and_wait();
                if (i == 0) {
                    barrier.arrive_and_drop();
                    return;
                }
                for (int round = 0; round < 100; ++round) {
                    barrier.arrive_and_wait();
                }
                ++passed;
            });
        }
    }
    EXPECT_EQ(passed, 2);
}

TEST(BarrierTest, ArrivingAndWaitingMayBeApart) {
    corymb::barrier barrier(2);
    std::atomic<int> value{0};
    std::jthread other([&] {
        value.store(7, std::memory_order_relaxed);
        auto token = barrier.arrive();
        barrier.wait(std::move(token));
    });
    auto token = barrier.arrive();
    barrier.wait(std::move(token));
    EXPECT_EQ(value.load(std::memory_order_relaxed), 7);
}

TEST(BarrierTest, OneArrivalMayCountForSeveral) {
    corymb::barrier barrier(3);
    auto token = barrier.arrive(3);
    barrier.wait(std::move(token)); // Must not block.
    SUCCEED();
}

TEST(BarrierTest, SleepersAreWoken) {
    corymb::barrier barrier(2);
    std::jthread late([&] {
        std::this_thread::sleep_for(std::chrono::milliseconds(30)); // Long enough to fall asleep.
        barrier.arrive_and_wait();
    });
    barrier.arrive_and_wait();
    SUCCEED();
}

TEST(BarrierTest, RefusesImpossibleCounts) {
    EXPECT_THROW(corymb::barrier(-1), corymb::Error);
    EXPECT_THROW(corymb::barrier(std::ptrdiff_t{1} << 40), corymb::Error);
}

} // namespace

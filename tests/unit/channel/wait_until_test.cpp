// SPDX-License-Identifier: Apache-2.0
#include "base/clock.hpp"
#include "base/usable_cpus.hpp"
#include "channel/env.hpp"
#include "channel/event_count.hpp"
#include "channel/wait_until.hpp"
#include "channel/waiter_cpus.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <thread>

namespace corymb::channel {
namespace {

constexpr std::int64_t limit_ns = 1'000'000;
constexpr std::int64_t patience_ns = 100'000'000'000;

/// On one CPU.
class WaitUntilTest : public testing::Test {
protected:
    WaitUntilTest() { set_affinity_mask({cpu_}); }

    bool wait_for_nothing() {
        auto never = []() noexcept {
            return false;
        };
        return wait_until(waiting_, never, limit_ns, spot_);
    }
    [[nodiscard]] int quick_looks() const { return waiting_.patience.quick_looks(); }

    AffinityGuard guard_;
    int cpu_ = affinity_mask().front();
    WaiterCpus cpus_;
    EventCount<StandardEnv> spot_;
    Waiting waiting_{WaitPolicy::ladder, false, &cpus_};
    const int looks_alone_ = waiting_.patience.quick_looks();
};

TEST_F(WaitUntilTest, AWaitSeesWhoElseWaitsOnItsCpu) {
    constexpr std::uint32_t other = 5;
    EXPECT_FALSE(wait_for_nothing());
    EXPECT_EQ(quick_looks(), looks_alone_);
    bool is_seen = false;
    for (int attempt = 0; attempt < 1000 && !is_seen; ++attempt) { // Marks are old in 17 ms.
        const bool has_left_a_mark = cpus_.meet(cpu_, other, now_ns());
        EXPECT_FALSE(wait_for_nothing());
        is_seen = has_left_a_mark && quick_looks() < looks_alone_;
    }
    EXPECT_TRUE(is_seen);
    EXPECT_FALSE(wait_for_nothing()) << "nobody has come again";
    EXPECT_EQ(quick_looks(), looks_alone_);
}

TEST_F(WaitUntilTest, ASleeperLearnsWhereItsWakerRan) {
    EventCount<StandardEnv, Sleepers::many> of_many;
    const auto is_woken_from_here = [&](auto& bed, const auto& wake) {
        Waiting waiting(WaitPolicy::ladder, false, &cpus_);
        const auto come = std::make_unique<std::atomic<bool>>(false);
        std::jthread waker([&] { // On the same CPU.
            std::this_thread::sleep_for(std::chrono::milliseconds(5));
            come->store(true, std::memory_order_release);
            wake();
        });
        auto has_come = [&]() noexcept {
            return come->load(std::memory_order_acquire);
        };
        EXPECT_TRUE(wait_until(waiting, has_come, patience_ns, bed));
        return waiting.mates.are_here(now_ns());
    };
    const auto some_time = [&](auto& bed, const auto& wake) {
        for (int attempt = 0; attempt < 1000; ++attempt) { // Who loses its CPU may not sleep.
            if (is_woken_from_here(bed, wake)) {
                return true;
            }
        }
        return false;
    };
    EXPECT_TRUE(some_time(spot_, [&] { spot_.wake_if_parked(); }));
    EXPECT_TRUE(some_time(of_many, [&] { of_many.wake_if_parked(); }));
}

} // namespace
} // namespace corymb::channel

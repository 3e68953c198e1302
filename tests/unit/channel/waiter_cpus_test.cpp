// SPDX-License-Identifier: Apache-2.0
#include "base/clock.hpp"
#include "base/usable_cpus.hpp"
#include "channel/waiter_cpus.hpp"

#include <gtest/gtest.h>

#include <memory>
#include <thread>

namespace corymb::channel {
namespace {

constexpr std::uint32_t one = 7;
constexpr std::uint32_t other = 8;
constexpr std::int64_t now = 1'000'000'000'000;
constexpr std::int64_t ms = 1'000'000;

TEST(WaiterCpusTest, TwoWhoShareACpuMeetInTurn) {
    WaiterCpus cpus;
    EXPECT_FALSE(cpus.meet(3, one, now)) << "nobody has been there";
    for (int i = 0; i < 10; ++i) {
        EXPECT_TRUE(cpus.meet(3, other, now + i * ms));
        EXPECT_TRUE(cpus.meet(3, one, now + i * ms));
    }
}

TEST(WaiterCpusTest, WhoHasItsCpuAloneMeetsNobody) {
    WaiterCpus cpus;
    for (int i = 0; i < 10; ++i) {
        EXPECT_FALSE(cpus.meet(0, one, now + i * ms));
        EXPECT_FALSE(cpus.meet(1, other, now + i * ms));
    }
}

TEST(WaiterCpusTest, WhoHasMovedAwayIsMetOnceAtMost) {
    WaiterCpus cpus;
    EXPECT_FALSE(cpus.meet(0, one, now));
    EXPECT_TRUE(cpus.meet(0, other, now)) << "it may still be there";
    EXPECT_FALSE(cpus.meet(1, one, now));
    EXPECT_FALSE(cpus.meet(0, other, now));
}

TEST(WaiterCpusTest, WhatIsOldDoesNotCount) {
    WaiterCpus cpus;
    EXPECT_FALSE(cpus.meet(0, one, now));
    EXPECT_FALSE(cpus.meet(0, other, now + 20 * ms));
    EXPECT_TRUE(cpus.meet(0, one, now + 20 * ms));
    EXPECT_FALSE(cpus.meet(0, one, now + (std::int64_t{1} << 47U))) << "nor after a lap of time";
}

TEST(WaiterCpusTest, EveryCpuHasItsOwn) {
    const auto cpus = std::make_unique<WaiterCpus>();
    for (int cpu = 0; cpu < 256; ++cpu) {
        EXPECT_FALSE(cpus->meet(cpu, one, now)) << cpu;
    }
    for (int cpu = 0; cpu < 256; ++cpu) {
        EXPECT_TRUE(cpus->meet(cpu, other, now)) << cpu;
        EXPECT_FALSE(cpus->meet(cpu + 256, one, now)) << "shares the word of " << cpu;
    }
}

/// Runs both by turns on one CPU, or only where there is none to choose.
class CpuMatesTest : public testing::Test {
protected:
    void SetUp() override { set_affinity_mask({affinity_mask().front()}); }

    AffinityGuard guard_;
    WaiterCpus cpus_;
    std::int64_t now_ = now_ns();
};

TEST_F(CpuMatesTest, AThreadIsNoTeammateOfItsOwn) {
    CpuMates first(&cpus_);
    CpuMates second(&cpus_); // As of a thread that has two handles.
    for (int i = 0; i < 10; ++i) {
        EXPECT_FALSE(first.are_here(now_));
        EXPECT_FALSE(second.are_here(now_));
    }
}

TEST_F(CpuMatesTest, AnotherThreadOnThisCpuIs) {
    CpuMates own(&cpus_);
    EXPECT_FALSE(own.are_here(now_));
    bool has_met = false;
    std::thread([&] { // Inherits the CPU.
        CpuMates its(&cpus_);
        has_met = its.are_here(now_);
    })
        .join();
    EXPECT_TRUE(has_met);
    EXPECT_TRUE(own.are_here(now_));
}

TEST_F(CpuMatesTest, AWakerFromThisCpuIsBelievedForAWhile) {
    CpuMates own(&cpus_);
    const int here = affinity_mask().front();
    EXPECT_FALSE(own.are_here(now_));
    own.note_waker(here + 1, now_);
    own.note_waker(-1, now_);
    EXPECT_FALSE(own.are_here(now_)) << "it ran elsewhere, or there was none";
    own.note_waker(here, now_);
    EXPECT_TRUE(own.are_here(now_));
    EXPECT_TRUE(own.are_here(now_ + ms)) << "without waiting for anything itself";
    EXPECT_FALSE(own.are_here(now_ + 100 * ms));
}

TEST_F(CpuMatesTest, WithoutAGroupNobodyIs) {
    CpuMates own(nullptr);
    EXPECT_FALSE(own.are_here(now_));
    EXPECT_FALSE(own.are_here(now_));
}

} // namespace
} // namespace corymb::channel

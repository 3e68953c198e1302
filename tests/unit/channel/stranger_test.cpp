// SPDX-License-Identifier: Apache-2.0
#include "channel/stranger.hpp"

#include <gtest/gtest.h>

#include <cstdint>

namespace corymb::channel {
namespace {

constexpr std::int64_t ms = 1'000'000;
constexpr std::int64_t now = 1'000'000 * ms;
constexpr std::int64_t slice = 3 * ms;

/// How long ranks sleep from `from` on.
std::int64_t pause_from(const Stranger& stranger, std::int64_t from) {
    std::int64_t pause = 0;
    while (stranger.is_here(from + pause)) {
        pause += ms;
    }
    return pause;
}

TEST(StrangerTest, IsNotHereBeforeSomebodyTells) {
    EXPECT_FALSE(Stranger().is_here(now));
}

TEST(StrangerTest, OneThatComesOnceCostsAsMuchSleepAsItTook) {
    Stranger stranger;
    for (int times = 0; times < 3; ++times) {
        const std::int64_t then = now + times * 1000 * ms;
        stranger.note(slice, then);
        EXPECT_EQ(pause_from(stranger, then), slice) << times;
    }
}

TEST(StrangerTest, OneThatStaysIsLeftAloneTwiceAsLongEachTime) {
    Stranger stranger;
    std::int64_t then = now;
    std::int64_t expected = slice;
    for (int times = 0; times < 20; ++times) {
        stranger.note(slice, then);
        EXPECT_EQ(pause_from(stranger, then), expected) << times;
        then += expected + slice; // The first yield afterwards loses a slice again.
        expected = expected == 64 * slice ? expected : 2 * expected;
    }
    EXPECT_EQ(expected, 64 * slice) << "a known part of the time goes into asking";
    stranger.note(slice, then + 2 * 64 * slice);
    EXPECT_EQ(pause_from(stranger, then + 2 * 64 * slice), slice) << "it had gone";
}

TEST(StrangerTest, RanksThatLoseTheSameSliceTellOnce) {
    Stranger stranger;
    for (int ranks = 0; ranks < 10; ++ranks) {
        stranger.note(slice, now + ranks);
    }
    EXPECT_EQ(pause_from(stranger, now), slice);
}

} // namespace
} // namespace corymb::channel

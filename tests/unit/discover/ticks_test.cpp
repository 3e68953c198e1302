// SPDX-License-Identifier: Apache-2.0
#include "machine/discover/ticks.hpp"

#include <gtest/gtest.h>

#include <cstddef>
#include <vector>

namespace corymb::discover {
namespace {

/// Reads of a clock, one every `read_ns`, with a tick of `tick_ns`.
std::vector<Ticks> reads_of(double read_ns, double tick_ns) {
    std::vector<Ticks> reads;
    for (std::size_t i = 0; i < 4 * reads_in_a_row; ++i) {
        reads.push_back(static_cast<Ticks>(static_cast<double>(i) * read_ns / tick_ns));
    }
    return reads;
}

TEST(Ticks, ReadingAFineClock) {
    EXPECT_NEAR(ticks_a_read(reads_of(20, 0.4)), 50, 1);
}

TEST(Ticks, ReadingAClockWhoseTickIsLongerThanARead) {
    EXPECT_NEAR(ticks_a_read(reads_of(10, 40)), 0.25, 0.02);
}

TEST(Ticks, AnInterruptedRowDoesNotCount) {
    std::vector<Ticks> reads = reads_of(20, 0.4);
    for (std::size_t i = 10; i < reads.size(); ++i) {
        reads[i] += 1'000'000;
    }
    EXPECT_NEAR(ticks_a_read(reads), 50, 1);
}

TEST(Ticks, TooFewReadsSayNothing) {
    EXPECT_EQ(ticks_a_read({}), 0);
}

} // namespace
} // namespace corymb::discover

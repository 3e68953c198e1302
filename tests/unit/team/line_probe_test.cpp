// SPDX-License-Identifier: Apache-2.0
// src/team/line_probe.hpp: two sides that come find out something, one alone is not kept waiting.
#include "base/clock.hpp"
#include "limits.hpp"
#include "team/line_probe.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <cstdint>
#include <memory>
#include <thread>

namespace corymb::team {
namespace {

constexpr std::int64_t limit_ns = 20'000'000;

TEST(LineProbe, TwoSidesFindOut) {
    // On a loaded machine one may miss the other now and then, or for long.
    const std::int64_t end_ns = now_ns() + std::chrono::nanoseconds(test_limit()).count();
    bool found = false;
    while (!found && now_ns() < end_ns) {
        const auto probe = std::make_unique<LineProbe>();
        double other = 0;
        std::jthread thread([&] { other = probe_lines(*probe, 1, limit_ns); });
        const double own = probe_lines(*probe, 0, limit_ns);
        thread.join();
        found = own > 0 && other > 0;
    }
    EXPECT_TRUE(found);
}

TEST(LineProbe, OneAloneLearnsNothing) {
    const auto probe = std::make_unique<LineProbe>();
    EXPECT_EQ(probe_lines(*probe, 0, limit_ns), 0);
}

} // namespace
} // namespace corymb::team

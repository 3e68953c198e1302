// SPDX-License-Identifier: Apache-2.0
// src/team/line_probe.hpp: two sides that come find out something, one alone is not kept waiting.
#include "team/line_probe.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <memory>
#include <thread>

namespace corymb::team {
namespace {

TEST(LineProbe, TwoSidesFindOut) {
    // On a loaded machine one may miss the other now and then.
    constexpr int tries = 50;
    bool found = false;
    for (int i = 0; i < tries && !found; ++i) {
        const auto probe = std::make_unique<LineProbe>();
        Caches other = Caches::unknown;
        std::jthread thread([&] { other = probe_lines(*probe, 1); });
        const Caches own = probe_lines(*probe, 0);
        thread.join();
        found = own != Caches::unknown && other != Caches::unknown;
    }
    EXPECT_TRUE(found);
}

TEST(LineProbe, OneAloneLearnsNothingSoon) {
    const auto probe = std::make_unique<LineProbe>();
    const auto begin = std::chrono::steady_clock::now();
    EXPECT_EQ(probe_lines(*probe, 0), Caches::unknown);
    EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(5));
}

} // namespace
} // namespace corymb::team

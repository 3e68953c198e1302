// SPDX-License-Identifier: Apache-2.0
// The order in which contestants are measured.
#include <engine/turns.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <set>
#include <vector>

namespace corymb::bench {
namespace {

TEST(TurnsTest, EveryRoundHasEverybodyOnce) {
    constexpr std::size_t contestants = 5, rounds = 40;
    std::mt19937_64 random(7);
    std::vector<std::size_t> order;
    take_turns(contestants, random, [&](std::size_t who) {
        order.push_back(who);
        return order.size() == contestants * rounds ? Turn::over : Turn::taken;
    });
    ASSERT_EQ(order.size(), contestants * rounds);
    std::set<std::vector<std::size_t>> orders;
    for (std::size_t round = 0; round < rounds; ++round) {
        const auto begin = order.begin() + static_cast<std::ptrdiff_t>(round * contestants);
        std::vector<std::size_t> one(begin, begin + contestants);
        orders.insert(one);
        std::sort(one.begin(), one.end());
        EXPECT_EQ(one, (std::vector<std::size_t>{0, 1, 2, 3, 4}));
    }
    EXPECT_GT(orders.size(), 1U) << "each round draws an order of its own";
}

TEST(TurnsTest, EndsWhenAllHavePassed) {
    std::mt19937_64 random(7);
    std::vector<int> left{0, 3, 1};
    std::vector<int> taken(3);
    take_turns(left.size(), random, [&](std::size_t who) {
        if (left[who] == 0) {
            return Turn::passed;
        }
        --left[who];
        ++taken[who];
        return Turn::taken;
    });
    EXPECT_EQ(taken, (std::vector<int>{0, 3, 1}));
}

TEST(TurnsTest, TimesAreThoseOfTheirContestant) {
    const auto times = times_in_turns(3, 4, [](std::size_t who) { return who == 2 ? 30.0 : 1.0; });
    ASSERT_EQ(times.size(), 3U);
    EXPECT_EQ(times[2], (std::vector<double>{30, 30, 30, 30}));
}

TEST(TurnsTest, NobodyHasNoTurn) {
    EXPECT_TRUE(times_in_turns(0, 4, [](std::size_t) { return 1.0; }).empty());
}

} // namespace
} // namespace corymb::bench

// SPDX-License-Identifier: Apache-2.0
// Rounds of exchanges move the data that they say: everybody has what it passes on, and gets what
// it needs.
#include "plan/generate/rounds.hpp"

#include <gtest/gtest.h>

#include <cstddef>
#include <numeric>
#include <vector>

namespace {

using namespace corymb;

constexpr std::size_t sizes[] = {1, 2, 3, 4, 5, 7, 8, 13, 16, 31};

bool is_power_of_two(std::size_t size) {
    return (size & (size - 1)) == 0;
}

/// The data that each position has after the rounds, if it has `begin[position]` before. No
/// position passes on what it does not have, or takes what it has.
using Held = std::vector<std::vector<bool>>;
Held moved(const Rounds& rounds, Held held) {
    const std::size_t size = held.size();
    for (const std::vector<Hop>& round : rounds) {
        const Held before = held;
        for (const Hop& hop : round) {
            for (std::size_t i = 0; i < hop.count; ++i) {
                const std::size_t data = (hop.first + i) % size;
                EXPECT_TRUE(before[hop.from][data]) << hop.from << " to " << hop.to;
                EXPECT_FALSE(held[hop.to][data]) << hop.from << " to " << hop.to;
                held[hop.to][data] = true;
            }
        }
    }
    return held;
}

Held own_data(std::size_t size) {
    Held held(size, std::vector<bool>(size));
    for (std::size_t position = 0; position < size; ++position) {
        held[position][position] = true;
    }
    return held;
}

/// How many contributions to each position's data it has after a reduce-scatter by these rounds. A
/// position that has passed data on has none of it left.
std::vector<int> combined(const Rounds& rounds, std::size_t size) {
    std::vector<std::vector<int>> has(size, std::vector<int>(size, 1));
    for (const std::vector<Hop>& round : rounds) {
        const auto before = has;
        for (const Hop& hop : round) {
            for (std::size_t i = 0; i < hop.count; ++i) {
                const std::size_t data = (hop.first + i) % size;
                has[hop.to][data] += before[hop.from][data];
                has[hop.from][data] -= before[hop.from][data];
            }
        }
    }
    std::vector<int> own;
    for (std::size_t position = 0; position < size; ++position) {
        own.push_back(has[position][position]);
    }
    return own;
}

TEST(Rounds, AllgathersBringAllDataToAll) {
    for (const std::size_t size : sizes) {
        const Held all(size, std::vector<bool>(size, true));
        EXPECT_EQ(moved(ring_rounds(size), own_data(size)), all) << size;
        EXPECT_EQ(moved(bruck_rounds(size), own_data(size)), all) << size;
        if (is_power_of_two(size)) {
            EXPECT_EQ(moved(doubling_rounds(size), own_data(size)), all) << size;
        }
    }
}

TEST(Rounds, AScatterBringsEveryoneItsOwn) {
    for (const std::size_t size : sizes) {
        Held at_the_root(size, std::vector<bool>(size));
        at_the_root[0].assign(size, true);
        const Held held = moved(binomial_rounds(size), at_the_root);
        for (std::size_t position = 0; position < size; ++position) {
            EXPECT_TRUE(held[position][position]) << position << " of " << size;
        }
    }
}

TEST(Rounds, BackwardsTheyCombineEachContributionOnce) {
    for (const std::size_t size : sizes) {
        const std::vector<int> all(size, static_cast<int>(size));
        EXPECT_EQ(combined(reversed(bruck_rounds(size)), size), all) << size;
        EXPECT_EQ(combined(ring_rounds(size, -1), size), all) << size;
        if (is_power_of_two(size)) {
            EXPECT_EQ(combined(reversed(doubling_rounds(size)), size), all) << size;
        }
    }
}

TEST(Rounds, AreAsFewAsTheirAuthorsSay) {
    for (const std::size_t size : sizes) {
        std::size_t doublings = 0;
        for (std::size_t reached = 1; reached < size; reached *= 2) {
            ++doublings;
        }
        EXPECT_EQ(bruck_rounds(size).size(), doublings);
        EXPECT_EQ(binomial_rounds(size).size(), doublings);
        EXPECT_EQ(ring_rounds(size).size(), size - 1);
    }
}

} // namespace

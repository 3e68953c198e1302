// SPDX-License-Identifier: Apache-2.0
#include "team/rank_cpus.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace {

using corymb::team::cpu_of_each;
using corymb::team::RankCpus;
using Cpus = std::vector<int>;
using Ranks = std::vector<RankCpus>;

TEST(RankCpus, AreTheOnlyOnes) {
    EXPECT_EQ(cpu_of_each(Ranks{{3, 1}, {1, 1}, {2, 1}}, 3), (Cpus{3, 1, 2}));
    EXPECT_EQ(cpu_of_each(Ranks{{3, 1}, {3, 1}}, 1), (Cpus{3, 3})) << "they take turns on it";
    EXPECT_EQ(cpu_of_each(Ranks{{3, 1}}, 1), (Cpus{3}));
}

TEST(RankCpus, AreTheFirstOfThoseOfACoreOrPart) {
    EXPECT_EQ(cpu_of_each(Ranks{{0, 2}, {1, 2}}, 4), (Cpus{0, 1})) << "0 and 2, 1 and 3";
    EXPECT_EQ(cpu_of_each(Ranks{{8, 8}, {0, 8}}, 16), (Cpus{8, 0}));
    EXPECT_EQ(cpu_of_each(Ranks{{0, 1}, {1, 3}}, 4), (Cpus{0, 1}));
}

TEST(RankCpus, AreNoneWhereSomeAreShared) {
    EXPECT_EQ(cpu_of_each(Ranks{{0, 4}, {0, 4}}, 4), Cpus{}) << "not bound";
    EXPECT_EQ(cpu_of_each(Ranks{{0, 4}, {2, 1}}, 4), Cpus{});
    EXPECT_EQ(cpu_of_each(Ranks{{0, 2}, {0, 2}, {1, 2}}, 4), Cpus{}) << "two on a core";
    EXPECT_EQ(cpu_of_each(Ranks{{0, 4}}, 4), Cpus{}) << "a rank alone";
}

} // namespace

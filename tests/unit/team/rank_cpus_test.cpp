// SPDX-License-Identifier: Apache-2.0
#include "team/rank_cpus.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>
#include <set>
#include <vector>

namespace {

using corymb::team::cpu_of_each;
using Cpus = std::vector<int>;
using Ranks = std::vector<Cpus>;

TEST(RankCpus, AreTheOnlyOnes) {
    EXPECT_EQ(cpu_of_each(Ranks{{3}, {1}, {2}}), (Cpus{3, 1, 2}));
    EXPECT_EQ(cpu_of_each(Ranks{{3}, {3}}), (Cpus{3, 3})) << "they take turns on it";
    EXPECT_EQ(cpu_of_each(Ranks{{3}}), (Cpus{3}));
}

TEST(RankCpus, AreTheFirstOfThoseOfACoreOrPart) {
    EXPECT_EQ(cpu_of_each(Ranks{{0, 2}, {1, 3}}), (Cpus{0, 1}));
    EXPECT_EQ(cpu_of_each(Ranks{{8, 9, 10}, {0, 1, 2}}), (Cpus{8, 0}));
    EXPECT_EQ(cpu_of_each(Ranks{{0}, {1, 2, 3}}), (Cpus{0, 1}));
}

TEST(RankCpus, AreDifferentOnesOfAPackageThatRanksShare) {
    const Cpus near = {0, 1, 4, 5};
    const Cpus far = {2, 3, 6, 7};
    EXPECT_EQ(cpu_of_each(Ranks{near, far, near, far, near}), (Cpus{0, 2, 1, 3, 4}));
    EXPECT_EQ(cpu_of_each(Ranks{near, near, near, far}), (Cpus{0, 1, 4, 2}));
}

TEST(RankCpus, AreTakenByThoseFirstWhoHaveFewer) {
    EXPECT_EQ(cpu_of_each(Ranks{{0, 1, 2, 3}, {0}, {1, 0}}), (Cpus{2, 0, 1}));
}

TEST(RankCpus, AreLeftForOthers) {
    EXPECT_EQ(cpu_of_each(Ranks{{0, 1}, {1, 2}, {0, 2}, {0, 3}}), (Cpus{0, 1, 2, 3}));
    EXPECT_EQ(cpu_of_each(Ranks{{0, 1}, {1, 2}, {2, 0}, {0, 1, 2, 3}, {3, 4, 0, 1}}),
              (Cpus{0, 1, 2, 3, 4}));
    EXPECT_EQ(cpu_of_each(Ranks{{0, 1}, {0, 2}, {0, 1}}), (Cpus{0, 2, 1}));
}

TEST(RankCpus, AreNoneWhereNothingIsKnown) {
    EXPECT_EQ(cpu_of_each(Ranks{{0, 1}, {0, 1}, {0, 1}, {2, 3}}), Cpus{}) << "too few for all";
    EXPECT_EQ(cpu_of_each(Ranks{{0}, {1}, {0, 1}, {0, 1}}), Cpus{}) << "the same";
    EXPECT_EQ(cpu_of_each(Ranks{{0, 1, 2, 3}, {0, 1, 2, 3}}), Cpus{}) << "not bound";
    EXPECT_EQ(cpu_of_each(Ranks{{0, 1, 2, 3}}), Cpus{}) << "a rank alone";
    EXPECT_EQ(cpu_of_each(Ranks{{0}, {}}), Cpus{}) << "the kernel does not say";
    EXPECT_EQ(cpu_of_each({}), Cpus{});
}

/// Whether no set of ranks may use fewer CPUs together than they are (P. Hall, 1935).
bool all_can_have_one(const Ranks& ranks) {
    for (unsigned some = 1; some < 1U << ranks.size(); ++some) {
        std::set<int> together;
        std::size_t count = 0;
        for (std::size_t rank = 0; rank < ranks.size(); ++rank) {
            if ((some >> rank & 1) != 0) {
                together.insert(ranks[rank].begin(), ranks[rank].end());
                ++count;
            }
        }
        if (together.size() < count) {
            return false;
        }
    }
    return true;
}

TEST(RankCpus, AreDifferentWheneverTheyCanBe) {
    std::mt19937 random(7);
    int can = 0;
    for (int round = 0; round < 3000; ++round) {
        Ranks ranks(1 + random() % 7);
        for (Cpus& cpus : ranks) {
            for (int cpu = 0; cpu < 8; ++cpu) {
                if (random() % 3 == 0) {
                    cpus.push_back(cpu);
                }
            }
            if (cpus.empty()) {
                cpus.push_back(static_cast<int>(random() % 8));
            }
            std::ranges::shuffle(cpus, random);
        }
        const Cpus chosen = cpu_of_each(ranks);
        const auto has_one = [](const Cpus& cpus) {
            return cpus.size() == 1;
        };
        const auto is_as_first = [&ranks](const Cpus& cpus) {
            return cpus == ranks[0];
        };
        if (std::ranges::all_of(ranks, has_one) || std::ranges::all_of(ranks, is_as_first)) {
            continue;
        }
        const bool all_can = all_can_have_one(ranks);
        ASSERT_EQ(chosen.size(), all_can ? ranks.size() : 0);
        for (std::size_t rank = 0; rank < chosen.size(); ++rank) {
            EXPECT_EQ(std::ranges::count(ranks[rank], chosen[rank]), 1);
        }
        EXPECT_EQ(std::set<int>(chosen.begin(), chosen.end()).size(), chosen.size());
        can += all_can ? 1 : 0;
    }
    EXPECT_GT(can, 500);
    EXPECT_LT(can, 2500);
}

} // namespace

// SPDX-License-Identifier: Apache-2.0
#include "machine/model/linkage.hpp"

#include "base/random.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>

namespace corymb::model {

namespace {

constexpr double nan = std::numeric_limits<double>::quiet_NaN();

std::vector<double> heights(const std::vector<Merge>& merges) {
    std::vector<double> out;
    for (const Merge& merge : merges) {
        out.push_back(merge.height);
    }
    std::sort(out.begin(), out.end());
    return out;
}

/// The definition, in O(n^3): join the two nearest clusters until one is left.
std::vector<double> naive_heights(const std::vector<double>& distance, std::size_t size) {
    std::vector<std::vector<std::size_t>> clusters;
    for (std::size_t i = 0; i < size; ++i) {
        clusters.push_back({i});
    }
    const auto mean = [&](const auto& a, const auto& b) {
        double sum = 0;
        for (const std::size_t i : a) {
            for (const std::size_t k : b) {
                sum += distance[i * size + k];
            }
        }
        return sum / static_cast<double>(a.size() * b.size());
    };
    std::vector<double> out;
    while (clusters.size() > 1) {
        std::size_t best_a = 0;
        std::size_t best_b = 1;
        for (std::size_t a = 0; a < clusters.size(); ++a) {
            for (std::size_t b = a + 1; b < clusters.size(); ++b) {
                if (mean(clusters[a], clusters[b]) < mean(clusters[best_a], clusters[best_b])) {
                    best_a = a;
                    best_b = b;
                }
            }
        }
        out.push_back(mean(clusters[best_a], clusters[best_b]));
        clusters[best_a].insert(clusters[best_a].end(), clusters[best_b].begin(),
                                clusters[best_b].end());
        clusters.erase(clusters.begin() + static_cast<std::ptrdiff_t>(best_b));
    }
    std::sort(out.begin(), out.end());
    return out;
}

TEST(Linkage, AgreesWithTheDefinition) {
    Random random(11);
    for (int round = 0; round < 30; ++round) {
        const std::size_t size = 2 + random.below(15);
        std::vector<double> distance(size * size, 0);
        for (std::size_t a = 0; a < size; ++a) {
            for (std::size_t b = 0; b < a; ++b) {
                distance[a * size + b] = distance[b * size + a] = 1 + random.unit();
            }
        }
        const std::vector<double> fast = heights(average_linkage(distance, size));
        const std::vector<double> slow = naive_heights(distance, size);
        ASSERT_EQ(fast.size(), slow.size());
        for (std::size_t i = 0; i < fast.size(); ++i) {
            EXPECT_NEAR(fast[i], slow[i], 1e-9);
        }
    }
}

TEST(Linkage, CutsIntoDenseGroups) {
    const std::vector<double> distance = {0, 9, 1, 9, 9, 0, 9, 1, 1, 9, 0, 9, 9, 1, 9, 0};
    const std::vector<Merge> merges = average_linkage(distance, 4);
    EXPECT_EQ(groups_below(merges, 4, 5), (std::vector<int>{0, 1, 0, 1}));
    EXPECT_EQ(groups_below(merges, 4, 0.5), (std::vector<int>{0, 1, 2, 3}));
    EXPECT_EQ(groups_below(merges, 4, 10), (std::vector<int>{0, 0, 0, 0}));
}

TEST(Linkage, UnknownDistancesJoinLast) {
    const std::vector<double> distance = {0,   2,   nan, nan, 2,   0,   nan, nan,
                                          nan, nan, 0,   3,   nan, nan, 3,   0};
    const std::vector<Merge> merges = average_linkage(distance, 4);
    ASSERT_EQ(merges.size(), 3u);
    EXPECT_TRUE(std::isinf(heights(merges).back()));
    EXPECT_EQ(groups_below(merges, 4, 1e300), (std::vector<int>{0, 0, 1, 1}));
    EXPECT_EQ(average_linkage({nan}, 1).size(), 0u);
}

} // namespace

} // namespace corymb::model

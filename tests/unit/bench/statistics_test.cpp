// SPDX-License-Identifier: Apache-2.0
#include <threads/statistics.hpp>

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

namespace corymb::bench {
namespace {

TEST(StatisticsTest, QuartilesInterpolateBetweenSamples) {
    const Quartiles some = quartiles({4, 1, 3, 2, 5});
    EXPECT_DOUBLE_EQ(some.q25, 2);
    EXPECT_DOUBLE_EQ(some.median, 3);
    EXPECT_DOUBLE_EQ(some.q75, 4);
    const Quartiles pair = quartiles({10, 20});
    EXPECT_DOUBLE_EQ(pair.q25, 12.5);
    EXPECT_DOUBLE_EQ(pair.median, 15);
    EXPECT_DOUBLE_EQ(pair.q75, 17.5);
    EXPECT_DOUBLE_EQ(quartiles({7}).q75, 7);
    EXPECT_DOUBLE_EQ(quartiles({}).median, 0);
}

TEST(StatisticsTest, SpearmanSeesOrderOnly) {
    const std::vector<double> x{1, 2, 3, 4};
    EXPECT_DOUBLE_EQ(spearman(x, std::vector<double>{10, 100, 1000, 10000}), 1);
    EXPECT_DOUBLE_EQ(spearman(x, std::vector<double>{4, 3, 2, 1}), -1);
    // Ranks 0 1 3 2 against 0 1 2 3: 1 - 6 * 2 / (4 * 15).
    EXPECT_DOUBLE_EQ(spearman(x, std::vector<double>{1, 2, 9, 4}), 0.8);
}

TEST(StatisticsTest, SpearmanGivesTiesTheirMeanRank) {
    const std::vector<double> x{1, 2, 2, 3};
    const std::vector<double> y{1, 2, 3, 4};
    // Ranks 0 1.5 1.5 3 and 0 1 2 3, by Pearson.
    EXPECT_NEAR(spearman(x, y), 4.5 / std::sqrt(4.5 * 5.0), 1e-12);
}

TEST(StatisticsTest, SpearmanIsUndefinedWithoutOrder) {
    EXPECT_TRUE(std::isnan(spearman(std::vector<double>{1}, std::vector<double>{1})));
    EXPECT_TRUE(std::isnan(spearman(std::vector<double>{1, 1}, std::vector<double>{1, 2})));
    EXPECT_TRUE(std::isnan(spearman(std::vector<double>{1, 2}, std::vector<double>{1})));
}

TEST(StatisticsTest, AQuantileIsBelowItsPart) {
    std::vector<double> samples;
    for (int i = 100; i >= 0; --i) {
        samples.push_back(i);
    }
    EXPECT_DOUBLE_EQ(quantile(samples, 0.99), 99);
    EXPECT_DOUBLE_EQ(quantile({1, 2}, 0.99), 1.99);
    EXPECT_DOUBLE_EQ(quantile({}, 0.5), 0);
}

} // namespace
} // namespace corymb::bench

// SPDX-License-Identifier: Apache-2.0
#include "machine/model/value_cuts.hpp"

#include "base/random.hpp"

#include <gtest/gtest.h>

namespace corymb::model {

namespace {

std::vector<WeightedValue> around(std::initializer_list<double> centres, int count, double noise) {
    Random random(3);
    std::vector<WeightedValue> out;
    for (const double centre : centres) {
        for (int i = 0; i < count; ++i) {
            out.push_back({centre * (1 + noise * (2 * random.unit() - 1)), 1});
        }
    }
    return out;
}

TEST(ValueCuts, FindsGapsWiderThanTheNoise) {
    const std::vector<double> cuts = find_cuts(around({10, 30, 100, 200}, 50, 0.1), 5);
    ASSERT_EQ(cuts.size(), 3u);
    EXPECT_EQ(class_of_value(11, cuts), 0);
    EXPECT_EQ(class_of_value(28, cuts), 1);
    EXPECT_EQ(class_of_value(95, cuts), 2);
    EXPECT_EQ(class_of_value(1000, cuts), 3);
}

TEST(ValueCuts, ABroadRangeIsOneClass) {
    EXPECT_TRUE(find_cuts(around({50}, 200, 0.5), 5).empty());
    EXPECT_TRUE(find_cuts({}, 1).empty());
    EXPECT_TRUE(find_cuts({{5, 1}}, 1).empty());
}

TEST(ValueCuts, ExactValuesNeedOnlyASmallGap) {
    const std::vector<double> cuts = find_cuts(around({117, 197, 217, 300}, 30, 0), 5);
    EXPECT_EQ(cuts.size(), 3u);
    // With noise, 197 and 217 are one.
    EXPECT_EQ(find_cuts(around({117, 197, 217, 300}, 30, 0.05), 5).size(), 2u);
}

TEST(ValueCuts, StrayValuesNeitherBridgeNorMakeClasses) {
    std::vector<WeightedValue> values = around({20, 100}, 200, 0.05);
    for (const double stray : {25.0, 31.0, 40.0, 55.0, 70.0, 5.0, 500.0}) {
        values.push_back({stray, 1});
    }
    EXPECT_EQ(find_cuts(values, 20).size(), 1u);
}

TEST(ValueCuts, ZerosAreTaken) {
    EXPECT_TRUE(find_cuts({{0, 1}, {0, 1}}, 1).empty());
    EXPECT_EQ(find_cuts({{0, 1}, {0, 1}, {5, 1}, {5, 1}}, 1).size(), 1u);
}

} // namespace

} // namespace corymb::model

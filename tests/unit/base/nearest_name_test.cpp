// SPDX-License-Identifier: Apache-2.0
#include "base/nearest_name.hpp"

#include <gtest/gtest.h>

#include <string>

TEST(NearestName, FindsTheLeastEditDistance) {
    const std::vector<std::string> names = {"barrier", "broadcast", "reduce", "allreduce"};
    EXPECT_EQ(corymb::nearest_name("broadcats", names), "broadcast");
    EXPECT_EQ(corymb::nearest_name("alreduce", names), "allreduce");
    EXPECT_EQ(corymb::nearest_name("reduce", names), "reduce");
}

TEST(NearestName, ProposesNothingWhenNothingIsNear) {
    EXPECT_EQ(corymb::nearest_name("xyz", {"barrier", "reduce"}), "");
    EXPECT_EQ(corymb::nearest_name("barrier", {}), "");
    EXPECT_EQ(corymb::nearest_name(std::string(1'000'000, 'b'), {"barrier"}), "");
}

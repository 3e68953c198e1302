// SPDX-License-Identifier: Apache-2.0
// Teams made of those who are left.
#include <corymb/team.hpp>

#include <gtest/gtest.h>

#include <thread>
#include <vector>

namespace corymb {
namespace {

TEST(ShrinkTest, AHandleMayGoBeforeOthersHaveTheirs) {
    for (int round = 0; round < 40; ++round) {
        ThreadTeam threads(3);
        threads.abandon(0, "the test wants it");
        std::vector<std::jthread> lives;
        for (Rank rank = 0; rank < 3; ++rank) {
            lives.emplace_back([&threads, rank] {
                Team team = threads.join(rank);
                EXPECT_EQ(team.shrink().size(), 3); // And away with it.
            });
        }
    }
}

} // namespace
} // namespace corymb

// SPDX-License-Identifier: Apache-2.0
#include "channel/crowd.hpp"
#include "crowd_memory.hpp"

#include <gtest/gtest.h>

namespace corymb::channel {
namespace {

TEST(CrowdTest, ACpuIsWantedUntilAllItsRanksHaveBegun) {
    CrowdMemory memory(4, 2);
    Crowd& crowd = memory.crowd();
    Crowd::Seat first(crowd, 0);
    Crowd::Seat second(crowd, 1);
    Crowd::Seat elsewhere(crowd, 2);
    first.begin(0);
    elsewhere.begin(1);
    EXPECT_FALSE(first.is_wanted(2)) << "nobody else is known to run here";
    second.begin(0);
    EXPECT_FALSE(first.is_wanted(2));
    EXPECT_FALSE(second.is_wanted(2));
    first.begin(0); // The next operation.
    EXPECT_TRUE(first.is_wanted(2)) << "rank 1 has not begun it";
    second.begin(0);
    EXPECT_FALSE(first.is_wanted(2));
}

TEST(CrowdTest, ACpuIsWantedByTheAwaitedRankIfItWasHereLast) {
    CrowdMemory memory(2, 2);
    Crowd& crowd = memory.crowd();
    Crowd::Seat first(crowd, 0);
    Crowd::Seat second(crowd, 1);
    first.begin(0);
    second.begin(0);
    EXPECT_TRUE(first.is_wanted(1));
    second.begin(1);
    first.begin(0);
    EXPECT_FALSE(first.is_wanted(1));
}

TEST(CrowdTest, ARankThatMovesTakesItsOperationsWithIt) {
    CrowdMemory memory(4, 2);
    Crowd& crowd = memory.crowd();
    Crowd::Seat first(crowd, 0);
    Crowd::Seat second(crowd, 1);
    Crowd::Seat other(crowd, 2);
    for (int operation = 0; operation < 5; ++operation) {
        first.begin(0);
        second.begin(0);
        other.begin(1);
    }
    second.begin(1);
    first.begin(0);
    EXPECT_FALSE(first.is_wanted(2)) << "rank 1 is no longer expected here";
    EXPECT_TRUE(second.is_wanted(0)) << "rank 2 is behind on the new CPU";
    other.begin(1);
    EXPECT_FALSE(second.is_wanted(0));
}

TEST(CrowdTest, RanksOfACpuTellEachOtherOfAStranger) {
    CrowdMemory memory(3, 2);
    Crowd::Seat first(memory.crowd(), 0);
    Crowd::Seat second(memory.crowd(), 1);
    Crowd::Seat elsewhere(memory.crowd(), 2);
    EXPECT_EQ(first.stranger(), nullptr) << "its CPU is not known yet";
    first.begin(0);
    second.begin(0);
    elsewhere.begin(1);
    first.stranger()->note(100, 1000);
    EXPECT_TRUE(second.stranger()->is_here(1099));
    EXPECT_FALSE(elsewhere.stranger()->is_here(1099));
}

TEST(CrowdTest, RanksOfACpuCountTheirTurnsTogether) {
    CrowdMemory memory(3, 2);
    Crowd& crowd = memory.crowd();
    Crowd::Seat first(crowd, 0);
    Crowd::Seat second(crowd, 1);
    Crowd::Seat elsewhere(crowd, 2);
    EXPECT_EQ(first.take_turn(), 0) << "nobody knows where it is";
    first.begin(0);
    second.begin(0);
    elsewhere.begin(1);
    EXPECT_EQ(first.take_turn(), 1);
    EXPECT_EQ(second.take_turn(), 2);
    EXPECT_EQ(second.take_turn(), 3);
    EXPECT_EQ(elsewhere.take_turn(), 1);
    EXPECT_EQ(first.take_turn(), 4);
}

TEST(CrowdTest, AnUnknownCpuIsAlwaysWanted) {
    CrowdMemory memory(2, 2);
    Crowd& crowd = memory.crowd();
    Crowd::Seat seat(crowd, 0);
    EXPECT_TRUE(seat.is_wanted(1));
    seat.begin(-1);
    EXPECT_TRUE(seat.is_wanted(1));
    seat.begin(2);
    EXPECT_TRUE(seat.is_wanted(1));
    seat.begin(1);
    EXPECT_FALSE(seat.is_wanted(1));
}

} // namespace
} // namespace corymb::channel

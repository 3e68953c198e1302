// SPDX-License-Identifier: Apache-2.0
// Trees as preorders.
#include "multicast/shape.hpp"
#include "team/sample_plans.hpp"

#include <corymb/error.hpp>

#include <gtest/gtest.h>

#include <string>

namespace corymb::multicast {
namespace {

TEST(ShapeTest, FlatIsTheRanksThemselves) {
    const Preorder order = flat_order(4);
    EXPECT_EQ(order.rank_at, (std::vector<Rank>{0, 1, 2, 3}));
    EXPECT_EQ(order.end, (std::vector<std::uint32_t>{1, 2, 3, 4}));
}

TEST(ShapeTest, BinaryHasEachSubtreeInOnePiece) {
    const Preorder order = binary_order(6);
    EXPECT_EQ(order.rank_at, (std::vector<Rank>{0, 1, 3, 4, 2, 5}));
    EXPECT_EQ(order.end, (std::vector<std::uint32_t>{6, 4, 3, 4, 6, 6}));
    for (std::uint32_t rank = 0; rank < 6; ++rank) {
        EXPECT_EQ(order.rank_at[order.position_of[rank]], static_cast<Rank>(rank));
    }
}

TEST(ShapeTest, APlansTreeBeginsAtItsRoot) {
    const Preorder order = plan_order(team_test::star_broadcast(4, 2, 8, Mechanism::line));
    EXPECT_EQ(order.rank_at.front(), 2);
    EXPECT_EQ(order.end, (std::vector<std::uint32_t>{4, 2, 3, 4}));
}

TEST(ShapeTest, RefusesWhatIsNoTree) {
    const auto text_of = [](const Plan& plan) {
        try {
            static_cast<void>(plan_order(plan));
        } catch (const Error& error) {
            EXPECT_EQ(error.code(), Errc::invalid_argument);
            return std::string(error.what());
        }
        return std::string("accepted");
    };
    EXPECT_NE(text_of(team_test::dissemination(4)).find("must be a broadcast"), std::string::npos);

    Plan two_parents = team_test::star_broadcast(4, 0, 8, Mechanism::line);
    two_parents.steps[3].push_back(
        {.kind = StepKind::recv, .via = Mechanism::line, .peer = 1, .to = {Buffer::output, 0, 1}});
    EXPECT_NE(text_of(two_parents).find("rank 3"), std::string::npos);

    Plan unreached = team_test::star_broadcast(4, 0, 8, Mechanism::line);
    unreached.steps[3].clear();
    EXPECT_NE(text_of(unreached).find("does not reach"), std::string::npos);
}

} // namespace
} // namespace corymb::multicast

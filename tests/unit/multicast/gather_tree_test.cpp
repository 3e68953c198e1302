// SPDX-License-Identifier: Apache-2.0
// Counters up which acknowledgements go, for any tree and any members.
#include "multicast/gather_tree.hpp"
#include "multicast/shape.hpp"
#include "team/sample_plans.hpp"

#include <corymb/error.hpp>

#include <gtest/gtest.h>

#include <atomic>
#include <random>
#include <string>
#include <vector>

namespace corymb::multicast {
namespace {

using Words = std::vector<std::atomic<std::uint64_t>>;
using Parents = std::vector<Position>;

Snapshot<const std::atomic<std::uint64_t>> named(const Words& words) {
    return Snapshot<const std::atomic<std::uint64_t>>(words.data());
}

/// Lets the members answer in the order of their positions; how many answers reach the root.
std::uint32_t answers_at_root(const GatherTree& tree, const Words& words, Position size) {
    std::vector<std::uint32_t> seen(tree.size());
    for (Position p = 0; p < size; ++p) {
        if (!named(words).has(p)) {
            continue;
        }
        std::uint32_t node = tree.place_of(p);
        while (++seen[node] == tree.expected(node, named(words)) && node != 0) {
            node = tree.above(node);
        }
    }
    for (std::uint32_t node = 0; node < tree.size(); ++node) {
        EXPECT_EQ(seen[node], tree.expected(node, named(words))) << "node " << node;
    }
    return seen[0];
}

TEST(GatherTreeTest, AnyMembersReachTheRootOfAnyTree) {
    std::mt19937 random(7);
    for (const Position size : {1U, 2U, 5U, 64U, 65U, 200U}) {
        for (unsigned round = 0; round < 20; ++round) {
            Parents parent(size, 0);
            for (Position p = 1; p < size; ++p) {
                parent[p] = static_cast<Position>(random() % p);
            }
            const GatherTree tree(parent);
            Words words(size / 64 + 1);
            std::uint32_t members = 0;
            const unsigned one_in = 1 + round % 4 * 3;
            for (Position p = 0; p < size; ++p) {
                EXPECT_EQ(tree.parent_of(p), parent[p]);
                if (random() % one_in == 0) {
                    words[p / 64] |= bit_of(p);
                    ++members;
                }
            }
            const std::uint32_t reached = answers_at_root(tree, words, size);
            EXPECT_EQ(reached, tree.expected(0, named(words)));
            EXPECT_EQ(reached == 0, members == 0);
        }
    }
}

TEST(GatherTreeTest, ACounterMayStandAtNoMember) {
    const GatherTree tree(Parents{0, 0, 1, 1}); // 2 and 3 answer at the counter of 1.
    Words words(1);
    words[0] = 0b1100;
    EXPECT_EQ(tree.size(), 2U);
    EXPECT_EQ(tree.place_of(1), tree.place_of(3));
    EXPECT_EQ(tree.expected(tree.place_of(1), named(words)), 2U);
    EXPECT_EQ(tree.expected(0, named(words)), 1U);
    words[0] = 0b0001;
    EXPECT_EQ(tree.expected(tree.place_of(1), named(words)), 0U);
    EXPECT_EQ(tree.expected(0, named(words)), 1U);
}

TEST(GatherTreeTest, RefusesWhatIsNoTree) {
    for (const Parents& parent : {Parents{1, 0}, Parents{0, 1}, Parents{0, 2, 1}, Parents{0, 7}}) {
        EXPECT_THROW(static_cast<void>(GatherTree(parent)), Error);
    }
}

TEST(GatherTreeTest, APlansTreeGoesToItsRoot) {
    const auto parents =
        gather_parents(team_test::chain_reduce(4, 8, Mechanism::line)); // Whose root is an end.
    EXPECT_TRUE(parents == (std::vector<Rank>{0, 0, 1, 2}) ||
                parents == (std::vector<Rank>{1, 2, 3, 3}));
    const auto refused = [](const Plan& plan) {
        try {
            static_cast<void>(gather_parents(plan));
        } catch (const Error& error) {
            return std::string(error.what());
        }
        return std::string("accepted");
    };
    EXPECT_NE(refused(team_test::star_broadcast(4, 0, 8, Mechanism::line)).find("must be a reduce"),
              std::string::npos);
    Plan lonely = team_test::star_reduce(4, 8);
    for (auto& step : lonely.steps[0]) {
        if (step.peer == 3) {
            step.peer = 2;
        }
    }
    EXPECT_NE(refused(lonely).find("rank 3"), std::string::npos) << refused(lonely);
}

} // namespace
} // namespace corymb::multicast

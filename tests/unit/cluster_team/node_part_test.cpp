// SPDX-License-Identifier: Apache-2.0
// What a rank gets of a plan, and the tree by which it gets it.
#include "base/random.hpp"
#include "cluster/node_part.hpp"
#include "cluster/node_tree.hpp"
#include "plan/nodes/scheme.hpp"
#include "plan/part_names.hpp"

#include <corymb/error.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <string>
#include <vector>

namespace {

using namespace corymb;
using cluster::NodeRange;
using cluster::NodeTree;

/// Nodes of unequal sizes, their numbers and ranks in any order.
std::vector<int> some_places(Random& random) {
    const auto nodes = static_cast<int>(1 + random.below(20));
    std::vector<int> places;
    for (int node = 0; node < nodes; ++node) {
        places.insert(places.end(), 1 + random.below(6), node);
    }
    for (auto i = static_cast<std::uint32_t>(places.size()); i > 1; --i) {
        std::swap(places[i - 1], places[random.below(i)]);
    }
    return places;
}

TEST(NodeTree, EachRankHasOneParentAndItsNodeComesDownToIt) {
    Random random(7);
    for (int round = 0; round < 500; ++round) {
        const std::vector<int> places = some_places(random);
        const auto size = static_cast<Rank>(places.size());
        std::vector<NodeTree> trees;
        for (Rank rank = 0; rank < size; ++rank) {
            trees.emplace_back(places, rank);
        }
        std::vector<int> parents(places.size(), 0);
        for (Rank rank = 0; rank < size; ++rank) {
            const NodeTree& tree = trees[static_cast<std::size_t>(rank)];
            EXPECT_EQ(tree.order[tree.nodes.first], places[static_cast<std::size_t>(rank)]);
            EXPECT_EQ(tree.parent < 0, rank == 0);
            for (const NodeTree::Child& child : tree.children) {
                const NodeTree& its = trees[static_cast<std::size_t>(child.rank)];
                ++parents[static_cast<std::size_t>(child.rank)];
                EXPECT_EQ(its.parent, rank);
                EXPECT_EQ(its.nodes.first, child.nodes.first);
                EXPECT_EQ(its.nodes.end, child.nodes.end);
                EXPECT_LE(tree.nodes.first, child.nodes.first);
                EXPECT_LE(child.nodes.end, tree.nodes.end);
            }
        }
        EXPECT_EQ(trees.front().nodes.end, trees.front().order.size());
        EXPECT_EQ(parents.front(), 0);
        EXPECT_EQ(std::count(parents.begin() + 1, parents.end(), 1), size - 1);
    }
}

/// So that rank 0 sends everything once, whatever the number of nodes.
TEST(NodeTree, NodesBelowARankAreSharedOutAmongItsChildren) {
    Random random(8);
    for (int round = 0; round < 500; ++round) {
        const std::vector<int> places = some_places(random);
        for (Rank rank = 0; rank < static_cast<Rank>(places.size()); ++rank) {
            const NodeTree tree(places, rank);
            std::set<std::size_t> below;
            for (const NodeTree::Child& child : tree.children) {
                const NodeRange range = child.nodes;
                if (range.first == tree.nodes.first) { // Of the own node.
                    EXPECT_EQ(range.end, range.first + 1);
                    continue;
                }
                for (std::size_t node = range.first; node < range.end; ++node) {
                    EXPECT_TRUE(below.insert(node).second);
                }
            }
            EXPECT_EQ(below.size(), tree.nodes.end - tree.nodes.first - 1);
        }
    }
}

TEST(NodePart, PartsAreTogetherThePlan) {
    const std::vector<int> places{1, 0, 0, 2, 1, 0};
    const nodes::Layout layout(places);
    const nodes::Scheme scheme = *nodes::scheme_named("lanes/2/direct/shared");
    const Plan plan = nodes::alltoall(layout, scheme, 64);
    const plan::PartNames names(plan);
    for (const bool keeps_parts : {false, true}) {
        const std::vector<std::string> texts = cluster::parts_as_bytes(plan, places, keeps_parts);
        ASSERT_EQ(texts.size(), layout.nodes.size());
        for (std::size_t node = 0; node < texts.size(); ++node) {
            const std::vector<Rank>& members = layout.nodes[node];
            const cluster::NodePart part = cluster::part_from_bytes(texts[node], members.size());
            EXPECT_EQ(part.plan.op, plan.op);
            EXPECT_EQ(part.plan.algorithm, plan.algorithm);
            EXPECT_EQ(part.plan.scratch_blocks, plan.scratch_blocks);
            for (std::size_t member = 0; member < members.size(); ++member) {
                EXPECT_EQ(part.plan.steps[member],
                          plan.steps[static_cast<std::size_t>(members[member])]);
                EXPECT_EQ(part.scratch[member], keeps_parts ? names.in_scratch(members[member])
                                                            : std::vector<plan::PartName>{});
            }
        }
    }
}

TEST(NodePart, BytesThatAreNotAllOfAPartOfThisNodeAreRefused) {
    const std::vector<int> places{0, 0, 1};
    const Plan plan =
        nodes::alltoall(nodes::Layout(places), *nodes::scheme_named("lanes/1/direct/shared"), 64);
    const std::string text = cluster::parts_as_bytes(plan, places, true).front();
    EXPECT_NE(text.front(), '!'); // As a reason why there is no plan begins.
    EXPECT_THROW(static_cast<void>(cluster::part_from_bytes(text, 1)), Error);
    EXPECT_THROW(static_cast<void>(cluster::part_from_bytes(text + "x", 2)), Error);
    for (std::size_t length = 0; length < text.size(); ++length) {
        EXPECT_THROW(static_cast<void>(
                         cluster::part_from_bytes(std::string_view(text).substr(0, length), 2)),
                     Error);
    }
    EXPECT_NO_THROW(static_cast<void>(cluster::part_from_bytes(text, 2)));
}

} // namespace

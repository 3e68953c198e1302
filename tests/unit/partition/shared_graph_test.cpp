// SPDX-License-Identifier: Apache-2.0
// Graphs over ranks: what they hold, and values of ghosts.
#include "graphs.hpp"

#include <corymb/error.hpp>

#include <gtest/gtest.h>

#include <vector>

namespace corymb {
namespace {

using namespace partition_test;

TEST(SharedGraphTest, EachRankHasTheRowsOfItsVertices) {
    for (unsigned seed = 0; seed < 12; ++seed) {
        const Graph graph = random_graph(seed, false);
        for (const int ranks : {1, 2, 3, 5}) {
            threads(ranks, [&](Team& team) { expect_part(shared(team, graph), graph); });
        }
    }
}

TEST(SharedGraphTest, AllVerticesHaveOneOwner) {
    const Graph graph = star(5000);
    threads(4, [&](Team& team) {
        const SharedGraph found = shared(team, graph);
        EXPECT_EQ(team.allreduce(found.own()), graph.vertices);
        for (Vertex local = 0; local < found.own() + found.ghosts(); ++local) {
            EXPECT_EQ(found.owner(found.global(local)) == team.rank(), local < found.own());
        }
    });
}

TEST(SharedGraphTest, EdgesAreDividedEvenly) {
    const Graph graph = power_law(13, 30'000, 1);
    threads(4, [&](Team& team) {
        const SharedGraph found = shared(team, graph);
        std::uint64_t ends = 0;
        for (Vertex own = 0; own < found.own(); ++own) {
            ends += found.neighbours(own).size();
        }
        EXPECT_LT(ends + found.own(), (2 * found.edges() + found.vertices()) * 3 / 8);
    });
}

TEST(SharedGraphTest, EqualEdgesCountOnceOrAddUp) {
    threads(3, [](Team& team) {
        // All ranks name 0-1, in both directions, and rank 2 alone names 1-2 and a loop.
        std::vector<Edge> edges{{0, 1}, {1, 0}};
        if (team.rank() == 2) {
            edges.insert(edges.end(), {{1, 2}, {2, 2}});
        }
        Graph graph{3, {}, {}};
        graph.add(0, 1);
        graph.add(1, 2);
        expect_part(SharedGraph::from_edges(team, 3, edges), graph);
        graph.add(0, 1, 3 * (5 + (Weight{1} << 33)));
        graph.add(1, 2, 7);
        std::vector<Weight> weights{5, Weight{1} << 33, 7, 9};
        weights.resize(edges.size());
        expect_part(SharedGraph::from_edges(team, 3, edges, weights), graph);
    });
}

TEST(SharedGraphTest, GhostsGetTheValuesOfTheirOwners) {
    const Graph graph = random_graph(7, false);
    threads(4, [&](Team& team) {
        const SharedGraph found = shared(team, graph);
        std::vector<std::uint64_t> values(found.own() + found.ghosts());
        for (std::uint64_t round = 1; round < 4; ++round) {
            for (Vertex own = 0; own < found.own(); ++own) {
                values[own] = round * found.global(own);
            }
            found.update_ghosts<std::uint64_t>(team, values);
            for (Vertex local = 0; local < values.size(); ++local) {
                EXPECT_EQ(values[local], round * found.global(local));
            }
        }
        values.push_back(0);
        EXPECT_THROW(found.update_ghosts<std::uint64_t>(team, values), Error);
    });
}

TEST(SharedGraphTest, WeightsOfOneTakeNoMemory) {
    const Graph graph = grid(40, 40);
    threads(2, [&](Team& team) {
        const auto edges = share_of(team, graph);
        const auto plain = SharedGraph::from_edges(team, graph.vertices, edges);
        const std::vector<Weight> twos(edges.size(), 2);
        const auto weighted = SharedGraph::from_edges(team, graph.vertices, edges, twos);
        std::size_t arcs = 0;
        for (Vertex own = 0; own < plain.own(); ++own) {
            arcs += plain.neighbours(own).size();
        }
        EXPECT_EQ(plain.bytes().data, 4 * (arcs + plain.own() + 1));
        EXPECT_EQ(weighted.bytes().data, plain.bytes().data + 4 * arcs);
    });
}

Errc code_of(Team& team, std::uint64_t vertices, const std::vector<Edge>& edges,
             const std::vector<Weight>& weights = {}) {
    try {
        static_cast<void>(SharedGraph::from_edges(team, vertices, edges, weights));
    } catch (const Error& error) {
        return error.code();
    }
    return Errc::internal;
}

TEST(SharedGraphTest, AllRanksLearnOfWrongEdges) {
    threads(3, [](Team& team) {
        const bool is_last = team.rank() == 2;
        const std::vector<Edge> good{{0, 1}};
        EXPECT_EQ(code_of(team, 2, is_last ? std::vector<Edge>{{0, 2}} : good),
                  Errc::invalid_argument);
        EXPECT_EQ(code_of(team, 2, good, {is_last ? Weight{0} : Weight{1}}),
                  Errc::invalid_argument);
        EXPECT_EQ(code_of(team, 2, good, is_last ? std::vector<Weight>{} : std::vector<Weight>{1}),
                  Errc::invalid_argument);
        EXPECT_EQ(code_of(team, 2, good, std::vector<Weight>(is_last ? 2 : 1, 1)),
                  Errc::invalid_argument);
        EXPECT_EQ(code_of(team, 0xffffffffu, good), Errc::unsupported);
        const Weight most = Weight{1} << 40;
        EXPECT_EQ(code_of(team, 2, good, {is_last ? most + 1 : most}), Errc::invalid_argument);
        EXPECT_EQ(code_of(team, 2, good, {most}), Errc::internal); // It is good.
        const std::vector<Edge> many(2000, {0, 1});
        EXPECT_EQ(code_of(team, 2, many, std::vector<Weight>(many.size(), most)),
                  Errc::unsupported);
    });
}

} // namespace
} // namespace corymb

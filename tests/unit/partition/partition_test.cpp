// SPDX-License-Identifier: Apache-2.0
// Partitions of graphs over ranks: complete, balanced, with the cut that they report.
#include "graphs.hpp"

#include <corymb/error.hpp>
#include <corymb/partition.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace corymb {
namespace {

using namespace partition_test;

struct Result {
    std::vector<std::uint32_t> parts; ///< By vertex.
    PartitionReport report;
};

/// Divides with so many ranks, and gathers what all of them have.
Result divide(const Graph& graph, int ranks, const PartitionOptions& options) {
    Result result;
    threads(ranks, [&](Team& team) {
        const SharedGraph found = shared(team, graph);
        const Partition partition = partition_graph(team, found, options);
        ASSERT_EQ(partition.parts.size(), found.own());
        std::vector<std::size_t> counts;
        for (int rank = 0; rank < ranks; ++rank) {
            const auto place = static_cast<std::size_t>(rank);
            counts.push_back(found.ranges()[place + 1] - found.ranges()[place]);
        }
        std::vector<std::uint32_t> all(team.rank() == 0 ? graph.vertices : 0);
        team.gatherv(std::span<const std::uint32_t>(partition.parts), all, {counts});
        if (team.rank() == 0) {
            result = {all, partition.report};
        }
    });
    return result;
}

/// Checks the result against the graph, and returns its cut.
Weight expect_sound(const Result& result, const Graph& graph, const PartitionOptions& options) {
    std::vector<Weight> weights(static_cast<std::size_t>(options.parts));
    EXPECT_EQ(result.parts.size(), graph.vertices);
    for (const std::uint32_t part : result.parts) {
        EXPECT_LT(part, weights.size());
        ++weights.at(part);
    }
    Weight cut = 0;
    for (const auto& [edge, weight] : graph.edges) {
        cut += result.parts[edge.first] == result.parts[edge.second] ? 0 : weight;
    }
    const Weight average = (Weight{graph.vertices} + options.parts - 1) / options.parts;
    EXPECT_EQ(result.report.cut, cut);
    EXPECT_EQ(result.report.heaviest, *std::max_element(weights.begin(), weights.end()));
    EXPECT_EQ(result.report.limit,
              average + static_cast<Weight>(static_cast<double>(average) * options.imbalance));
    EXPECT_TRUE(result.report.is_balanced())
        << result.report.heaviest << " of " << result.report.limit;
    return cut;
}

Weight cut_of(const Graph& graph, int ranks, int parts, double imbalance = 0.03) {
    const PartitionOptions options{parts, imbalance, 1};
    SCOPED_TRACE(std::to_string(graph.vertices) + " vertices, " + std::to_string(ranks) +
                 " ranks, " + std::to_string(parts) + " parts");
    return expect_sound(divide(graph, ranks, options), graph, options);
}

TEST(PartitionTest, RandomGraphsAreBalanced) {
    for (unsigned seed = 0; seed < 20; ++seed) {
        const Graph graph = random_graph(seed, false);
        for (const int parts : {1, 2, 3, 7}) {
            cut_of(graph, 1 + static_cast<int>(seed % 4), parts);
        }
    }
}

TEST(PartitionTest, NoImbalanceAtAll) {
    for (const int ranks : {1, 3}) {
        cut_of(grid(90, 90), ranks, 4, 0);
        cut_of(star(3000), ranks, 7, 0);
    }
}

TEST(PartitionTest, EmptyAndTinyGraphs) {
    for (const int ranks : {1, 4}) {
        for (const int parts : {1, 5}) {
            EXPECT_EQ(cut_of({0, {}, {}}, ranks, parts), 0);
            EXPECT_EQ(cut_of({1, {}, {}}, ranks, parts), 0);
            EXPECT_EQ(cut_of({7, {}, {}}, ranks, parts), 0); // Without edges.
        }
        // More parts than vertices: each vertex has one of its own.
        EXPECT_EQ(cut_of(clique(6), ranks, 100), 15);
    }
}

TEST(PartitionTest, ComponentsStayWhole) {
    Graph graph{0, {}, {}};
    for (int copy = 0; copy < 4; ++copy) {
        for (const auto& [edge, weight] : grid(25, 25).edges) {
            graph.add(graph.vertices + edge.first, graph.vertices + edge.second);
        }
        graph.vertices += 625;
    }
    for (const int ranks : {1, 2, 4}) {
        EXPECT_EQ(cut_of(graph, ranks, 4), 0);
    }
}

TEST(PartitionTest, StarsAndPowerLawGraphs) {
    for (const int ranks : {1, 2, 4}) {
        const Weight cut = cut_of(star(20'000), ranks, 8);
        EXPECT_LE(cut, 20'000 - 20'001 / 8 * 90 / 100); // All leaves but those with the hub.
        cut_of(power_law(13, 40'000, 3), ranks, 8);
    }
}

TEST(PartitionTest, MeshesHaveSmallCuts) {
    for (const int ranks : {1, 2, 4}) {
        EXPECT_LE(cut_of(grid(128, 64), ranks, 2), 64 * 115 / 100);
        EXPECT_LE(cut_of(grid(128, 128), ranks, 4), 256 * 125 / 100);
    }
}

TEST(PartitionTest, HeavyEdgesAreNotCut) {
    // Pairs of neighbours along a ring, as 2i and 2i + 1, are heavy.
    constexpr Vertex size = 6000;
    threads(3, [](Team& team) {
        std::vector<Edge> edges;
        std::vector<Weight> weights;
        for (Vertex vertex = static_cast<Vertex>(team.rank()); vertex < size; vertex += 3) {
            edges.push_back({vertex, (vertex + 1) % size});
            weights.push_back(vertex % 2 == 0 ? Weight{1} << 34 : 1);
        }
        const SharedGraph graph = SharedGraph::from_edges(team, size, edges, weights);
        const Partition partition = partition_graph(team, graph, {6, 0.03, 2});
        EXPECT_LT(partition.report.cut, 60);
        EXPECT_TRUE(partition.report.is_balanced());
    });
}

TEST(PartitionTest, WeightsOfVerticesAreBalanced) {
    std::string text = "4000 3999 10\n";
    Weight total = 0;
    for (int vertex = 1; vertex <= 4000; ++vertex) {
        const int weight = vertex % 7 == 0 ? 0 : vertex % 13 + 1;
        total += weight;
        text += std::to_string(weight);
        text += vertex > 1 ? " " + std::to_string(vertex - 1) : "";
        text += vertex < 4000 ? " " + std::to_string(vertex + 1) + "\n" : "\n";
    }
    const GraphFile file(text, ".graph");
    for (const int ranks : {1, 2, 4}) {
        threads(ranks, [&](Team& team) {
            const SharedGraph graph = read_graph(team, file.path());
            EXPECT_EQ(graph.total_weight(), total);
            const Partition partition = partition_graph(team, graph, {5, 0.01, 1});
            std::vector<Weight> weights(5);
            for (Vertex own = 0; own < graph.own(); ++own) {
                weights[partition.parts[own]] += graph.vertex_weight(own);
            }
            team.allreduce(weights, weights);
            EXPECT_EQ(*std::max_element(weights.begin(), weights.end()), partition.report.heaviest);
            EXPECT_TRUE(partition.report.is_balanced());
            EXPECT_LT(partition.report.cut, 30);
        });
    }
}

TEST(PartitionTest, ALimitThatCannotHoldIsReported) {
    const GraphFile file("3 2 10\n100 2\n1 1 3\n1 2\n", ".graph");
    threads(2, [&](Team& team) {
        const SharedGraph graph = read_graph(team, file.path());
        const Partition partition = partition_graph(team, graph, {2, 0.03, 1});
        EXPECT_FALSE(partition.report.is_balanced());
        EXPECT_GE(partition.report.heaviest, 100);
    });
}

TEST(PartitionTest, EqualSeedsGiveEqualParts) {
    const Graph graph = power_law(12, 20'000, 5);
    for (const int ranks : {1, 3}) {
        const PartitionOptions options{6, 0.05, 9};
        const Result first = divide(graph, ranks, options);
        EXPECT_EQ(divide(graph, ranks, options).parts, first.parts);
        EXPECT_NE(divide(graph, ranks, {6, 0.05, 10}).parts, first.parts);
    }
}

TEST(PartitionTest, WrongOptionsAreRefused) {
    threads(2, [](Team& team) {
        const SharedGraph graph = shared(team, star(3));
        const PartitionOptions wrong[] = {{0, 0.03, 1}, {-1, 0.03, 1}, {1 << 21, 0.03, 1},
                                          {2, -0.1, 1}, {2, 1e9, 1},   {2, std::nan(""), 1}};
        for (const PartitionOptions& options : wrong) {
            try {
                static_cast<void>(partition_graph(team, graph, options));
                ADD_FAILURE();
            } catch (const Error& error) {
                EXPECT_EQ(error.code(), Errc::invalid_argument);
            }
        }
    });
}

} // namespace
} // namespace corymb

// SPDX-License-Identifier: Apache-2.0
// Graphs for tests, as a map from pairs of vertices to weights, and files of them.
#pragma once

#include "base/random.hpp"

#include <corymb/shared_graph.hpp>
#include <corymb/team.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <string>
#include <unistd.h>
#include <utility>
#include <vector>

namespace corymb::partition_test {

using Vertex = SharedGraph::Vertex;
using Weight = SharedGraph::Weight;
using Edge = SharedGraph::Edge;

/// Weights by (smaller vertex, larger vertex).
using Edges = std::map<std::pair<Vertex, Vertex>, Weight>;

struct Graph {
    Vertex vertices = 0;
    Edges edges;
    std::vector<Weight> vertex_weights; ///< Empty: all 1.

    void add(Vertex one, Vertex other, Weight weight = 1) {
        edges[{std::min(one, other), std::max(one, other)}] = weight;
    }
};

inline Graph random_graph(unsigned seed, bool has_weights) {
    Random random(seed);
    Graph graph;
    graph.vertices = 1 + random.below(60);
    const Vertex edges = random.below(2 * graph.vertices);
    for (unsigned edge = 0; edge < edges; ++edge) {
        const Vertex one = random.below(graph.vertices);
        const Vertex other = random.below(graph.vertices);
        if (one != other) {
            graph.add(one, other, has_weights ? 1 + random.below(9) : 1);
        }
    }
    return graph;
}

inline Graph star(Vertex leaves) {
    Graph graph{leaves + 1, {}, {}};
    for (Vertex leaf = 1; leaf <= leaves; ++leaf) {
        graph.add(0, leaf);
    }
    return graph;
}

inline Graph clique(Vertex size) {
    Graph graph{size, {}, {}};
    for (Vertex one = 0; one < size; ++one) {
        for (Vertex other = one + 1; other < size; ++other) {
            graph.add(one, other);
        }
    }
    return graph;
}

inline Graph grid(Vertex width, Vertex height) {
    Graph graph{width * height, {}, {}};
    for (Vertex y = 0; y < height; ++y) {
        for (Vertex x = 0; x < width; ++x) {
            if (x + 1 < width) {
                graph.add(y * width + x, y * width + x + 1);
            }
            if (y + 1 < height) {
                graph.add(y * width + x, (y + 1) * width + x);
            }
        }
    }
    return graph;
}

/// Recursive matrix: Chakrabarti, Zhan, Faloutsos, SDM 2004. Few vertices have many neighbours.
inline Graph power_law(unsigned scale, unsigned edges, unsigned seed) {
    Random random(seed);
    Graph graph{Vertex{1} << scale, {}, {}};
    for (unsigned edge = 0; edge < edges; ++edge) {
        Vertex one = 0;
        Vertex other = 0;
        for (unsigned bit = 0; bit < scale; ++bit) {
            const unsigned draw = random.below(100);
            one = 2 * one + (draw >= 76 ? 1 : 0);
            other = 2 * other + ((draw >= 57 && draw < 76) || draw >= 95 ? 1 : 0);
        }
        if (one != other) {
            graph.add(one, other);
        }
    }
    return graph;
}

/// This rank's share of the edges, in directions that change.
inline std::vector<Edge> share_of(const Team& team, const Graph& graph) {
    std::vector<Edge> mine;
    int number = 0;
    for (const auto& [edge, weight] : graph.edges) {
        if (++number % team.size() == team.rank()) {
            mine.push_back(number % 3 == 0 ? Edge{edge.second, edge.first}
                                           : Edge{edge.first, edge.second});
        }
    }
    return mine;
}

inline SharedGraph shared(Team& team, const Graph& graph) {
    return SharedGraph::from_edges(team, graph.vertices, share_of(team, graph));
}

/// Checks what one rank knows of the graph.
inline void expect_part(const SharedGraph& found, const Graph& graph) {
    EXPECT_EQ(found.vertices(), graph.vertices);
    EXPECT_EQ(found.edges(), graph.edges.size());
    for (Vertex own = 0; own < found.own(); ++own) {
        Edges expected;
        Edges rows;
        const Vertex name = found.global(own);
        for (const auto& [edge, weight] : graph.edges) {
            if (edge.first == name || edge.second == name) {
                expected[edge] = weight;
            }
        }
        found.for_each_neighbour(own, [&](Vertex to, Weight weight) {
            const Vertex other = found.global(to);
            EXPECT_TRUE(rows.emplace(std::minmax(name, other), weight).second);
        });
        EXPECT_EQ(rows, expected) << "vertex " << name;
        EXPECT_EQ(found.vertex_weight(own),
                  graph.vertex_weights.empty() ? 1 : graph.vertex_weights[name]);
    }
}

/// A file that goes with this object.
class GraphFile {
public:
    explicit GraphFile(const std::string& text, const std::string& end = ".txt") {
        std::string pattern =
            (std::filesystem::temp_directory_path() / "corymb-graph-XXXXXX").string() + end;
        const int descriptor = ::mkstemps(pattern.data(), static_cast<int>(end.size()));
        EXPECT_GE(descriptor, 0);
        ::close(descriptor);
        path_ = pattern;
        std::ofstream(path_, std::ios::binary) << text;
    }
    GraphFile(const GraphFile&) = delete;
    GraphFile& operator=(const GraphFile&) = delete;
    ~GraphFile() { std::filesystem::remove(path_); }

    [[nodiscard]] const std::filesystem::path& path() const noexcept { return path_; }

private:
    std::filesystem::path path_;
};

} // namespace corymb::partition_test

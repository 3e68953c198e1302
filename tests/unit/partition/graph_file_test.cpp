// SPDX-License-Identifier: Apache-2.0
// Files with graphs, read by any number of ranks.
#include "graphs.hpp"
#include "partition/collective.hpp"

#include <corymb/error.hpp>

#include <filesystem>
#include <gtest/gtest.h>
#include <new>
#include <string>
#include <vector>

namespace corymb {
namespace {

using namespace partition_test;

/// `gap` stands between fields and `end` behind lines.
struct Form {
    std::string gap = " ";
    std::string end = "\n";
    bool has_comments = false;
};

std::string metis_text(const Graph& graph, const Form& form, bool has_weights) {
    std::vector<std::string> rows(graph.vertices);
    const bool has_vertex_weights = !graph.vertex_weights.empty();
    for (const auto& [edge, weight] : graph.edges) {
        const std::string end = has_weights ? form.gap + std::to_string(weight) : "";
        rows[edge.first] += form.gap + std::to_string(edge.second + 1) + end;
        rows[edge.second] += form.gap + std::to_string(edge.first + 1) + end;
    }
    const std::string comment = form.has_comments ? "% 1 2 3" + form.end : "";
    std::string text =
        comment + std::to_string(graph.vertices) + form.gap + std::to_string(graph.edges.size());
    if (has_weights || has_vertex_weights) {
        text += form.gap + (has_vertex_weights ? "1" : "0") + (has_weights ? "1" : "0");
    }
    text += form.end;
    for (Vertex vertex = 0; vertex < graph.vertices; ++vertex) {
        text += vertex % 3 == 0 ? comment : "";
        text += has_vertex_weights ? std::to_string(graph.vertex_weights[vertex]) : "";
        text += rows[vertex] + form.end;
    }
    return text;
}

std::string edges_text(const Graph& graph, const Form& form, bool has_weights) {
    std::string text;
    int number = 0;
    for (const auto& [edge, weight] : graph.edges) {
        text += form.has_comments && ++number % 3 == 1 ? "# about edges" + form.end + form.end : "";
        text += std::to_string(edge.second) + form.gap + std::to_string(edge.first) +
                (has_weights ? form.gap + std::to_string(weight) : "") + form.end;
    }
    // A list has as many vertices as its largest number says.
    const std::string last = std::to_string(graph.vertices - 1);
    return text + last + form.gap + last + (has_weights ? form.gap + "1" : "") + form.end;
}

std::string matrix_text(const Graph& graph, const Form& form, bool has_weights) {
    std::string text = std::string("%%MatrixMarket matrix coordinate ") +
                       (has_weights ? "integer" : "pattern") + " symmetric" + form.end;
    text += form.has_comments ? "% about the matrix" + form.end : "";
    const std::string size = std::to_string(graph.vertices);
    text += size + form.gap + size + form.gap + std::to_string(graph.edges.size()) + form.end;
    for (const auto& [edge, weight] : graph.edges) {
        text += std::to_string(edge.second + 1) + form.gap + std::to_string(edge.first + 1) +
                (has_weights ? form.gap + std::to_string(weight) : "") + form.end;
    }
    return text;
}

void expect_read(const GraphFile& file, const Graph& graph) {
    for (const int ranks : {1, 2, 5}) {
        SCOPED_TRACE(ranks);
        threads(ranks, [&](Team& team) { expect_part(read_graph(team, file.path()), graph); });
    }
}

TEST(GraphFileTest, RandomGraphsAreReadAsTheyWereWritten) {
    const Form forms[] = {{}, {"\t", "\r\n", true}, {"  ", "\n", true}};
    for (unsigned seed = 0; seed < 18; ++seed) {
        SCOPED_TRACE(seed);
        const Form& form = forms[seed % 3];
        const bool has_weights = seed % 2 == 0;
        Graph graph = random_graph(seed, has_weights);
        expect_read(GraphFile(edges_text(graph, form, has_weights)), graph);
        expect_read(GraphFile(matrix_text(graph, form, has_weights), ".mtx"), graph);
        if (seed % 4 < 2) {
            for (Vertex vertex = 0; vertex < graph.vertices; ++vertex) {
                graph.vertex_weights.push_back((vertex + seed) % 5);
            }
        }
        expect_read(GraphFile(metis_text(graph, form, has_weights), ".graph"), graph);
    }
}

TEST(GraphFileTest, LongLinesAndTheLastOneWithoutAnEnd) {
    const Graph graph = star(60'000); // A line of some hundred thousand bytes.
    std::string text = metis_text(graph, {}, false);
    text.pop_back();
    const GraphFile file(text, ".metis");
    threads(3, [&](Team& team) {
        const SharedGraph found = read_graph(team, file.path());
        EXPECT_EQ(found.vertices(), graph.vertices);
        EXPECT_EQ(found.edges(), graph.edges.size());
    });
}

TEST(GraphFileTest, EmptyListsHaveNoVertices) {
    for (const char* const text : {"", "\n", "# nothing\n"}) {
        expect_read(GraphFile(text), {});
    }
    expect_read(GraphFile("0 0\n", ".graph"), {});
    expect_read(GraphFile("%%MatrixMarket matrix coordinate pattern general\n3 3 0\n"),
                {3, {}, {}});
}

TEST(GraphFileTest, MatricesNeedNotBeSymmetric) {
    Graph graph{3, {}, {}};
    graph.add(0, 1);
    graph.add(1, 2);
    const std::string banner = "%%MatrixMarket MATRIX Coordinate ";
    expect_read(GraphFile(banner + "real general\n3 3 4\n1 2 .5\n2 1 -1e3\n3 2 7\n2 2 1\n"), graph);
    graph.add(0, 1, 6); // Both entries.
    graph.add(1, 2, 7);
    expect_read(GraphFile(banner + "integer general\n3 3 3\n1 2 2\n2 1 4\n3 2 7\n"), graph);
}

struct Wrong {
    const char* end; ///< The end of the file's name.
    const char* text;
    int line;
    const char* says;
};

/// What a file is refused with, by so many ranks.
std::string refusal(const GraphFile& file, int ranks) {
    std::vector<std::string> texts(static_cast<std::size_t>(ranks));
    threads(ranks, [&](Team& team) {
        try {
            static_cast<void>(read_graph(team, file.path()));
            texts[static_cast<std::size_t>(team.rank())] = "nothing";
        } catch (const Error& error) {
            EXPECT_EQ(error.code(), Errc::io);
            texts[static_cast<std::size_t>(team.rank())] = error.what();
        }
    });
    for (const std::string& text : texts) {
        EXPECT_EQ(text, texts[0]);
    }
    return texts[0];
}

TEST(GraphFileTest, RefusalsNameTheLine) {
    const Wrong cases[] = {
        {".graph", "", 1, "the file ends before"},
        {".graph", "% only a comment\n", 2, "the file ends before"},
        {".graph", "x 3\n", 1, "number of vertices"},
        {".graph", "2\n", 1, "that of edges"},
        {".graph", "4294967295 1\n", 1, "at most 4294967294"},
        {".graph", "99999999999999999999999 1\n", 1, "number of vertices"},
        {".graph", "2 1 12\n2\n1\n", 1, "'12'"},
        {".graph", "2 1 11 2\n2\n1\n", 1, "one weight a vertex"},
        {".graph", "2 1\n2\n", 3, "lines for 1"},
        {".graph", "2 1\n2\n1\n\n3\n", 5, "behind the line of the last vertex"},
        {".graph", "2 1\n2\n1 x\n", 3, "'x' is not a vertex, a number from 1 to 2"},
        {".graph", "2 1\n3\n1\n", 2, "'3' is not a vertex"},
        {".graph", "2 1\n0\n1\n", 2, "'0' is not a vertex"},
        {".graph", "2 1\n2\n-1\n", 3, "'-1' is not a vertex"},
        {".graph", "2 1\n1\n1\n", 2, "vertex 1 has an edge to itself"},
        {".graph", "2 2\n2 2\n1 1\n", 2, "vertex 1 names vertex 2 twice"},
        {".graph", "3 1\n2\n1 3\n\n", 1, "name 3 ends of edges"},
        {".graph", "3 2\n2\n1 3\n1\n", 2, "vertex 1 does not name vertex 3"},
        {".graph", "2 1 1\n2 5\n1 4\n", 2, "with weight 4"},
        {".graph", "2 1 1\n2 5\n1\n", 3, "the end of the line is not a whole number"},
        {".graph", "2 1 1\n2 0\n1 0\n", 2, "'0' is not a whole number"},
        {".graph", "2 1 10\n1 2\nx 1\n", 3, "the weight of a vertex"},
        {".graph", "2 1 100\n\n1 1\n", 2, "the size of a vertex"},
        {".txt", "0\n", 1, "two vertices are expected"},
        {".txt", "0 1\n1 2.5\n", 2, "'2.5' is not a vertex"},
        {".txt", "0 1\n# x\n1 4294967295\n", 3, "a number from 0 to 4294967294"},
        {".txt", "0 1\r\n1 b\r\n", 2, "'b'"},
        {".txt", "0 1\n0 1 2\n", 2, "'2' is too much"},
        {".txt", "0 1 2\n0 1\n", 2, "the weight is missing"},
        {".txt", "0 1 2\n0 2 0\n", 2, "the weight '0'"},
        {".txt", "0 1 2 3\n", 1, "'3' is too much"},
        {".mtx", "%%MatrixMarket matrix array real general\n2 2\n", 1, "the first line must be"},
        {".mtx", "%%MatrixMarket matrix coordinate pattern general\n2 3 1\n1 1\n", 2, "square"},
        {".mtx", "%%MatrixMarket matrix coordinate pattern general\n2 2\n1 1\n", 2, "are expected"},
        {".mtx", "%%MatrixMarket matrix coordinate pattern general\n2 2 1\n1 3\n", 3, "'3'"},
        {".mtx", "%%MatrixMarket matrix coordinate pattern general\n2 2 2\n1 2\n", 4, "2 entries"},
    };
    for (const Wrong& wrong : cases) {
        SCOPED_TRACE(wrong.text);
        const GraphFile file(wrong.text, wrong.end);
        const std::string expected = file.path().string() + ":" + std::to_string(wrong.line) + ": ";
        for (const int ranks : {1, 3}) {
            const std::string text = refusal(file, ranks);
            EXPECT_TRUE(text.starts_with(expected)) << text;
            EXPECT_NE(text.find(wrong.says), std::string::npos) << text;
        }
    }
}

TEST(GraphFileTest, WhatIsNoRegularFileIsRefused) {
    for (const char* const path : {"/nowhere/at/all", "/tmp", "/dev/null"}) {
        threads(2, [&](Team& team) {
            try {
                static_cast<void>(read_graph(team, path));
                ADD_FAILURE();
            } catch (const Error& error) {
                EXPECT_TRUE(error.code() == Errc::io) << error.what();
            }
        });
    }
}

TEST(GraphFileTest, AFileThatOneRankLacksIsRefusedOnAllAndTheTeamGoesOn) {
    const GraphFile file("2 1\n2\n1\n", ".graph");
    threads(3, [&](Team& team) {
        const std::filesystem::path lacking = "/nowhere/graph.metis";
        try {
            static_cast<void>(read_graph(team, team.rank() == 1 ? lacking : file.path()));
            ADD_FAILURE();
        } catch (const Error& error) {
            EXPECT_EQ(error.code(), Errc::io);
            EXPECT_NE(std::string(error.what()).find(lacking.string()), std::string::npos)
                << error.what();
        }
        EXPECT_EQ(read_graph(team, file.path()).edges(), 1U);
    });
}

TEST(CollectiveTest, WhatFailsOnOneRankEndsTheOthersAtOnce) {
    threads(3, [&](Team& team) {
        try {
            partition::collective(team, [&] {
                if (team.rank() == 1) {
                    throw std::bad_alloc();
                }
                team.barrier();
                return 0;
            });
            ADD_FAILURE();
        } catch (const std::bad_alloc&) {
            EXPECT_EQ(team.rank(), 1);
        } catch (const Error& error) {
            EXPECT_EQ(error.code(), Errc::team_broken);
            EXPECT_EQ(error.ranks(), std::vector<int>{1});
        }
    });
}

} // namespace
} // namespace corymb

// SPDX-License-Identifier: Apache-2.0
// Formats of graphs in files. METIS: the manual of METIS 5, section 4.1.1. Matrix Market: Boisvert,
// Pozo, Remington, NISTIR 5935, 1996.
#include "partition/graph_builder.hpp"
#include "partition/graph_lines.hpp"

#include <corymb/operators.hpp>

#include <algorithm>
#include <cctype>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>

namespace corymb {

namespace {

using partition::Fault;
using partition::Fields;
using partition::Lines;
using partition::TextFile;
using Edge = SharedGraph::Edge;
using Vertex = SharedGraph::Vertex;
using Weight = SharedGraph::Weight;

constexpr std::uint64_t vertices_most = std::numeric_limits<Vertex>::max() - 1;
constexpr std::uint64_t count_most = std::uint64_t{1} << 62;
constexpr auto weight_most = static_cast<std::uint64_t>(partition::weight_most);

/// What the beginning of a file says.
struct Header {
    GraphFormat format = GraphFormat::edges;
    std::uint64_t data = 0; ///< Where the lines of vertices, entries or edges begin.
    std::uint64_t vertices = 0;
    std::uint64_t count = 0;  ///< Edges of METIS, entries of a matrix.
    bool has_weights = false; ///< Edges have weights.
    bool has_sizes = false;   ///< METIS: sizes of vertices, which are not used.
    bool has_vertex_weights = false;
};

bool is_comment(std::string_view line, GraphFormat format) noexcept {
    return line.starts_with('%') || (format == GraphFormat::edges && line.starts_with('#'));
}

std::string in_quotes(std::string_view word) {
    return "'" + std::string(word.substr(0, 40)) + (word.size() > 40 ? "...'" : "'");
}

std::string lower(std::string_view word) {
    std::string text(word);
    std::transform(text.begin(), text.end(), text.begin(),
                   [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
    return text;
}

GraphFormat format_of(const TextFile& file, const std::filesystem::path& path) {
    std::string beginning(14, ' ');
    static_cast<void>(file.read(0, beginning.data(), beginning.size()));
    if (lower(beginning) == "%%matrixmarket") {
        return GraphFormat::matrix_market;
    }
    const std::string end = path.extension().string();
    return end == ".metis" || end == ".graph" ? GraphFormat::metis : GraphFormat::edges;
}

/// Reads what stands before the lines that the ranks share.
class HeaderReader {
public:
    HeaderReader(const TextFile& file, GraphFormat format)
        : file_(&file), lines_(file, 0, file.size()) {
        header.format = format;
    }

    void read() {
        if (header.format == GraphFormat::matrix_market && !read_banner()) {
            return;
        }
        do {
            if (!lines_.next()) {
                if (header.format == GraphFormat::edges) {
                    header.data = file_->size();
                } else {
                    fault = Fault{file_->size(), "the file ends before the sizes of the graph"};
                }
                return;
            }
        } while (is_comment(lines_.line(), header.format) || Fields(lines_.line()).is_over());
        header.data = lines_.offset();
        if (header.format == GraphFormat::edges) {
            Fields fields(lines_.line());
            for (int skipped = 0; skipped < 2; ++skipped) {
                fields.word();
            }
            header.has_weights = !fields.is_over();
            return;
        }
        header.format == GraphFormat::metis ? read_metis() : read_sizes();
        header.data = lines_.offset() + lines_.line().size();
    }

    Header header;
    std::optional<Fault> fault;

private:
    void object(const std::string& text) { fault = Fault{lines_.offset(), text}; }

    bool read_banner() {
        static_cast<void>(lines_.next());
        Fields fields(lines_.line());
        fields.word();
        const std::string object_word = lower(fields.word());
        const std::string form = lower(fields.word());
        const std::string field = lower(fields.word());
        const std::string symmetry = lower(fields.word());
        const auto is_one_of = [](const std::string& word, auto... words) {
            return ((word == words) || ...);
        };
        if (object_word != "matrix" || form != "coordinate" ||
            !is_one_of(field, "pattern", "real", "integer", "complex") ||
            !is_one_of(symmetry, "general", "symmetric", "skew-symmetric", "hermitian")) {
            object("the first line must be '%%MatrixMarket matrix coordinate' with pattern, real, "
                   "integer or complex, and general or symmetric");
            return false;
        }
        header.has_weights = field == "integer";
        return true;
    }

    void read_sizes() {
        Fields fields(lines_.line());
        const auto rows = fields.number(0, vertices_most);
        const auto columns = fields.number(0, vertices_most);
        const auto entries = fields.number(0, count_most);
        if (!rows || !columns || !entries || !fields.is_over()) {
            object("rows, columns and entries of the matrix are expected; rows are at most " +
                   std::to_string(vertices_most));
        } else if (*rows != *columns) {
            object("a graph is a square matrix; this one has " + std::to_string(*rows) +
                   " rows and " + std::to_string(*columns) + " columns");
        } else {
            header.vertices = *rows;
            header.count = *entries;
        }
    }

    void read_metis() {
        Fields fields(lines_.line());
        const auto vertices = fields.number(0, vertices_most);
        const auto edges = fields.number(0, count_most);
        if (!vertices || !edges) {
            object("the number of vertices, at most " + std::to_string(vertices_most) +
                   ", and that of edges are expected");
            return;
        }
        header.vertices = *vertices;
        header.count = *edges;
        std::string kind(fields.word());
        if (kind.size() > 3 || kind.find_first_not_of("01") != std::string::npos) {
            object("the format " + in_quotes(kind) + " is not made of up to three digits 0 and 1");
            return;
        }
        kind.insert(0, 3 - kind.size(), '0');
        header.has_sizes = kind[0] == '1';
        header.has_vertex_weights = kind[1] == '1';
        header.has_weights = kind[2] == '1';
        if (!fields.is_over() && (fields.number(1, 1) != 1 || !fields.is_over())) {
            object("one weight a vertex can be balanced, not several");
        }
    }

    const TextFile* file_;
    Lines lines_;
};

/// Collective: what the file begins with, as rank 0 has read it.
Header read_header(Team& team, const TextFile& file, const std::filesystem::path& path,
                   GraphFormat format) {
    std::optional<Fault> fault;
    Header header;
    if (team.rank() == 0) {
        HeaderReader reader(file,
                            format == GraphFormat::automatic ? format_of(file, path) : format);
        reader.read();
        header = reader.header;
        fault = reader.fault;
    }
    file.agree(team, fault);
    return team.broadcast(header);
}

/// This rank's share of the lines behind the header.
Lines own_lines(const Team& team, const TextFile& file, const Header& header) {
    const auto size = static_cast<std::uint64_t>(team.size());
    const auto rank = static_cast<std::uint64_t>(team.rank());
    const std::uint64_t length = file.size() - header.data;
    const auto at = [&](std::uint64_t part) {
        return header.data + length / size * part + length % size * part / size;
    };
    return {file, at(rank), at(rank + 1)};
}

/// Lines with an edge each: lists and matrices.
class EdgeReader {
public:
    /// `bytes`: how long the rank's share of the file is.
    EdgeReader(const Header& header, std::uint64_t bytes)
        : header_(header), bytes_(bytes), base_(header.format == GraphFormat::edges ? 0 : 1),
          most_(header.format == GraphFormat::edges ? vertices_most : header.vertices) {}

    /// False: there is a fault.
    bool read(const Lines& lines) {
        if (is_comment(lines.line(), header_.format)) {
            return true;
        }
        Fields fields(lines.line());
        if (fields.is_over()) {
            return true;
        }
        ++count;
        const auto from = number_of_vertex(fields);
        const auto to = from ? number_of_vertex(fields) : from;
        if (!to) {
            fault = Fault{lines.offset(),
                          (fields.is_over()
                               ? "two vertices are expected, not one"
                               : in_quotes(fields.word()) + " is not a vertex, a number from " +
                                     std::to_string(base_) + " to " + std::to_string(most_))};
            return false;
        }
        if (!read_weight(lines, fields)) {
            return false;
        }
        if (edges.size() == measured_edges && bytes_ > 0) { // Now the length of a line is known.
            const std::uint64_t length = (lines.offset() - first_offset_) / measured_edges;
            edges.reserve(bytes_ / std::max<std::uint64_t>(length, 1) * 9 / 8);
        }
        first_offset_ = edges.empty() ? lines.offset() : first_offset_;
        edges.push_back({static_cast<Vertex>(*from - base_), static_cast<Vertex>(*to - base_)});
        largest = std::max({largest, *from + 1, *to + 1});
        return true;
    }

    std::vector<Edge> edges;
    std::vector<Weight> weights;
    std::uint64_t count = 0;
    std::uint64_t largest = 0; ///< The largest number of a vertex, and 1 more.
    std::optional<Fault> fault;

private:
    std::optional<std::uint64_t> number_of_vertex(Fields& fields) const noexcept {
        return fields.number(base_, most_);
    }

    bool read_weight(const Lines& lines, Fields& fields) {
        if (header_.has_weights) {
            const auto weight = fields.number(1, weight_most);
            if (!weight) {
                fault = Fault{lines.offset(), fields.is_over()
                                                  ? "the weight is missing, which other edges have"
                                                  : "the weight " + in_quotes(fields.word()) +
                                                        " is not a whole number from 1 to 2^40"};
                return false;
            }
            weights.push_back(static_cast<Weight>(*weight));
        }
        if (!fields.is_over() && (header_.has_weights || header_.format == GraphFormat::edges)) {
            fault = Fault{lines.offset(), in_quotes(fields.word()) + " is too much for this line"};
            return false;
        }
        return true;
    }

    static constexpr std::size_t measured_edges = 4096;

    Header header_;
    std::uint64_t bytes_;
    std::uint64_t first_offset_ = 0;
    std::uint64_t base_;
    std::uint64_t most_;
};

SharedGraph read_edges(Team& team, const TextFile& file, const Header& header) {
    EdgeReader reader(header, (file.size() - header.data) / static_cast<unsigned>(team.size()));
    Lines lines = own_lines(team, file, header);
    while (lines.next() && reader.read(lines)) {
    }
    file.agree(team, reader.fault);
    const std::uint64_t count = team.allreduce(reader.count);
    std::uint64_t vertices = header.vertices;
    if (header.format == GraphFormat::edges) {
        vertices = team.allreduce(reader.largest, maximum());
    } else if (count != header.count) {
        file.agree(team,
                   Fault{file.size(), "the header says " + std::to_string(header.count) +
                                          " entries, but there are " + std::to_string(count)});
    }
    return SharedGraph::from_edges(team, vertices, reader.edges, reader.weights);
}

/// Lines with a vertex each.
class RowReader {
public:
    RowReader(const Header& header, detail::GraphBuilder& builder)
        : header_(header), builder_(&builder), vertex_(builder.graph().first()) {}

    /// The next vertex. False: there is a fault.
    bool read(const Lines& lines) {
        offset_ = lines.offset();
        Fields fields(lines.line());
        if (vertex_ == header_.vertices) { // A blank line at the end does no harm.
            return fields.is_over() || object(fields, "stands behind the line of the last vertex");
        }
        if (header_.has_sizes && !fields.number(0, weight_most)) {
            return object(fields, "is not the size of a vertex");
        }
        std::optional<std::uint64_t> weight = 1;
        if (header_.has_vertex_weights && !(weight = fields.number(0, weight_most))) {
            return object(fields, "is not a whole number from 0 to 2^40, the weight of a vertex");
        }
        row_.clear();
        while (!fields.is_over()) {
            const auto to = fields.number(1, header_.vertices);
            if (!to) {
                return object(fields, "is not a vertex, a number from 1 to " +
                                          std::to_string(header_.vertices));
            }
            std::optional<std::uint64_t> of_edge = 1;
            if (header_.has_weights && !(of_edge = fields.number(1, weight_most))) {
                return object(fields,
                              "is not a whole number from 1 to 2^40, the weight of an edge");
            }
            row_.emplace_back(static_cast<Vertex>(*to - 1), static_cast<Weight>(*of_edge));
        }
        vertex_weights.push_back(static_cast<Weight>(*weight));
        return add_row();
    }

    detail::WeightList vertex_weights;
    std::uint64_t arcs = 0;
    std::optional<Fault> fault;

private:
    bool object(Fields& fields, const std::string& text) {
        const std::string_view word = fields.word();
        fault =
            Fault{offset_, (word.empty() ? "the end of the line" : in_quotes(word)) + " " + text};
        return false;
    }

    bool add_row() {
        std::sort(row_.begin(), row_.end());
        for (std::size_t at = 0; at < row_.size(); ++at) {
            const std::string name = "vertex " + std::to_string(vertex_ + 1);
            if (row_[at].first == vertex_) {
                fault = Fault{offset_, name + " has an edge to itself"};
                return false;
            }
            if (at > 0 && row_[at].first == row_[at - 1].first) {
                fault = Fault{offset_, name + " names vertex " +
                                           std::to_string(row_[at].first + 1) + " twice"};
                return false;
            }
            builder_->add_arc(row_[at].first, row_[at].second);
        }
        builder_->end_row();
        arcs += row_.size();
        ++vertex_;
        return true;
    }

    Header header_;
    detail::GraphBuilder* builder_;
    std::uint64_t vertex_;
    std::uint64_t offset_ = 0;
    std::vector<std::pair<Vertex, Weight>> row_;
};

/// A METIS file: where the vertices of each rank begin, as its share of the file has their lines.
std::vector<Vertex> ranges_of_lines(Team& team, const TextFile& file, const Header& header) {
    std::uint64_t mine = 0;
    for (Lines lines = own_lines(team, file, header); lines.next();) {
        mine += is_comment(lines.line(), header.format) ? 0u : 1u;
    }
    std::vector<std::uint64_t> counts(static_cast<std::size_t>(team.size()));
    team.allgather(std::span<const std::uint64_t>(&mine, 1), counts);
    std::vector<Vertex> ranges{0};
    std::uint64_t sum = 0;
    for (const std::uint64_t count : counts) {
        sum += count;
        ranges.push_back(static_cast<Vertex>(std::min(sum, header.vertices)));
    }
    std::optional<Fault> fault;
    if (sum < header.vertices) {
        fault = Fault{file.size(), "the header says " + std::to_string(header.vertices) +
                                       " vertices, but there are lines for " + std::to_string(sum)};
    }
    file.agree(team, fault);
    return ranges;
}

/// The arc's place in a sum that is 0 if each edge is named at both ends with one weight.
std::uint64_t side(Vertex from, Vertex to, Weight weight) noexcept {
    std::uint64_t hash = (std::uint64_t{std::min(from, to)} << 32) | std::max(from, to);
    hash = (hash ^ (hash >> 31)) * 0x9e3779b97f4a7c15u + static_cast<std::uint64_t>(weight);
    hash = (hash ^ (hash >> 29)) * 0xbf58476d1ce4e5b9u;
    hash ^= hash >> 32;
    return from < to ? hash : 0 - hash;
}

/// The first of these arcs, by the vertex of this rank that it goes to, whose edge that vertex does
/// not name with the same weight.
std::optional<partition::WeightedArc> lone_arc(const SharedGraph& graph,
                                               const std::vector<partition::WeightedArc>& arcs) {
    std::optional<partition::WeightedArc> first;
    for (const auto& arc : arcs) {
        if (first && std::pair(arc.to, arc.from) > std::pair(first->to, first->from)) {
            continue;
        }
        bool is_named = false;
        graph.for_each_neighbour(arc.to - graph.first(), [&](Vertex back, Weight weight) {
            is_named = is_named || (graph.global(back) == arc.from && weight == arc.weight);
        });
        if (!is_named) {
            first = arc;
        }
    }
    return first;
}

/// Collective. Throws if an edge is not named at both ends.
void check_symmetry(Team& team, const TextFile& file, const Header& header,
                    const SharedGraph& graph) {
    std::uint64_t sum = 0;
    for (Vertex own = 0; own < graph.own(); ++own) {
        graph.for_each_neighbour(own, [&](Vertex to, Weight weight) {
            sum += side(graph.global(own), graph.global(to), weight);
        });
    }
    if (team.allreduce(sum) == 0) {
        return;
    }
    // Now time does not matter.
    std::optional<Fault> fault;
    partition::Outbox<partition::WeightedArc> outbox(static_cast<std::size_t>(team.size()));
    for (Vertex own = 0; own < graph.own(); ++own) {
        graph.for_each_neighbour(own, [&](Vertex to, Weight weight) {
            const Vertex target = graph.global(to);
            outbox[static_cast<std::size_t>(graph.owner(target))].push_back(
                {graph.global(own), target, weight});
        });
    }
    if (const auto lone = lone_arc(graph, partition::exchange(team, outbox).items)) {
        Lines lines(file, header.data, file.size());
        std::uint64_t vertex = 0;
        while (vertex <= lone->to && lines.next()) {
            vertex += is_comment(lines.line(), header.format) ? 0u : 1u;
        }
        std::string text = "vertex " + std::to_string(lone->to + 1) + " does not name vertex " +
                           std::to_string(lone->from + 1);
        if (header.has_weights) {
            text += " with weight " + std::to_string(lone->weight);
        }
        fault = Fault{lines.offset(), text + ", which names it so"};
    }
    file.agree(team, fault);
}

SharedGraph read_rows(Team& team, const TextFile& file, const Header& header) {
    detail::GraphBuilder builder(team, ranges_of_lines(team, file, header));
    RowReader reader(header, builder);
    Lines lines = own_lines(team, file, header);
    const auto own_share = 2 * header.count / static_cast<unsigned>(team.size());
    builder.reserve(std::min<std::uint64_t>(own_share * 9 / 8, file.size()));
    while (lines.next() && (is_comment(lines.line(), header.format) || reader.read(lines))) {
    }
    file.agree(team, reader.fault);
    const std::uint64_t arcs = team.allreduce(reader.arcs);
    std::optional<Fault> fault;
    if (arcs != 2 * header.count) {
        fault = Fault{0, "the header says " + std::to_string(header.count) +
                             " edges, but the lines name " + std::to_string(arcs) +
                             " ends of edges instead of twice as many"};
    }
    file.agree(team, fault);
    SharedGraph graph = builder.finish(team, std::move(reader.vertex_weights));
    check_symmetry(team, file, header, graph);
    return graph;
}

} // namespace

SharedGraph read_graph(Team& team, const std::filesystem::path& path, GraphFormat format) {
    const TextFile file(path);
    const Header header = read_header(team, file, path, format);
    return header.format == GraphFormat::metis ? read_rows(team, file, header)
                                               : read_edges(team, file, header);
}

} // namespace corymb

// SPDX-License-Identifier: Apache-2.0
#include "partition/graph_format.hpp"
#include "partition/tuning.hpp"

#include <corymb/operators.hpp>

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

namespace corymb::partition {

namespace {

using Edge = SharedGraph::Edge;

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
        if (edges.size() == tuning::edges_of_a_sample &&
            bytes_ > 0) { // Now the length of a line is known.
            const std::uint64_t length =
                (lines.offset() - first_offset_) / tuning::edges_of_a_sample;
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
            const auto weight = fields.number(1, weight_in_file_most);
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

    Header header_;
    std::uint64_t bytes_;
    std::uint64_t first_offset_ = 0;
    std::uint64_t base_;
    std::uint64_t most_;
};

} // namespace

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

} // namespace corymb::partition

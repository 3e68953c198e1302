// SPDX-License-Identifier: Apache-2.0
#include "partition/graph_format.hpp"

#include <algorithm>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

namespace corymb::partition {

namespace {

/// Lines with a vertex each.
class RowReader {
public:
    RowReader(const Header& header, detail::GraphBuilder& builder)
        : header_(header), builder_(&builder), vertex_(builder.graph().first()),
          end_(vertex_ + builder.graph().own()) {}

    /// The next vertex. False: there is a fault.
    bool read(const Lines& lines) {
        offset_ = lines.offset();
        Fields fields(lines.line());
        if (vertex_ == header_.vertices) { // A blank line at the end does no harm.
            return fields.is_over() || object(fields, "stands behind the line of the last vertex");
        }
        if (vertex_ == end_) {
            fault = changed();
            return false;
        }
        if (header_.has_sizes && !fields.number(0, weight_in_file_most)) {
            return object(fields, "is not the size of a vertex");
        }
        std::optional<std::uint64_t> weight = 1;
        if (header_.has_vertex_weights && !(weight = fields.number(0, weight_in_file_most))) {
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
            if (header_.has_weights && !(of_edge = fields.number(1, weight_in_file_most))) {
                return object(fields,
                              "is not a whole number from 1 to 2^40, the weight of an edge");
            }
            row_.emplace_back(static_cast<Vertex>(*to - 1), static_cast<Weight>(*of_edge));
        }
        vertex_weights.push_back(static_cast<Weight>(*weight));
        return add_row();
    }

    /// All lines are read.
    void end() {
        if (!fault && vertex_ != end_) {
            fault = changed();
        }
    }

    detail::WeightList vertex_weights;
    std::uint64_t arcs = 0;
    std::optional<Fault> fault;

private:
    /// The lines were counted before.
    [[nodiscard]] Fault changed() const {
        return {offset_, "the file has changed while it was read"};
    }
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
    std::uint64_t end_;
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
std::optional<WeightedArc> lone_arc(const SharedGraph& graph,
                                    const std::vector<WeightedArc>& arcs) {
    using Named = std::tuple<Vertex, Vertex, Weight>;
    std::vector<Named> named;
    for (Vertex own = 0; own < graph.own(); ++own) {
        graph.for_each_neighbour(own, [&](Vertex to, Weight weight) {
            named.emplace_back(graph.global(own), graph.global(to), weight);
        });
    }
    std::sort(named.begin(), named.end());
    std::optional<WeightedArc> first;
    for (const auto& arc : arcs) {
        const bool is_before =
            !first || std::pair(arc.to, arc.from) < std::pair(first->to, first->from);
        if (is_before &&
            !std::binary_search(named.begin(), named.end(), Named(arc.to, arc.from, arc.weight))) {
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
    Outbox<WeightedArc> outbox(static_cast<std::size_t>(team.size()));
    for (Vertex own = 0; own < graph.own(); ++own) {
        graph.for_each_neighbour(own, [&](Vertex to, Weight weight) {
            const Vertex target = graph.global(to);
            outbox[static_cast<std::size_t>(graph.owner(target))].push_back(
                {graph.global(own), target, weight});
        });
    }
    if (const auto lone = lone_arc(graph, exchange(team, outbox).items)) {
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

} // namespace

SharedGraph read_rows(Team& team, const TextFile& file, const Header& header) {
    detail::GraphBuilder builder(team, ranges_of_lines(team, file, header));
    RowReader reader(header, builder);
    Lines lines = own_lines(team, file, header);
    const auto own_share = 2 * header.count / static_cast<unsigned>(team.size());
    builder.reserve(std::min<std::uint64_t>(own_share * 9 / 8, file.size()));
    while (lines.next() && (is_comment(lines.line(), header.format) || reader.read(lines))) {
    }
    reader.end();
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

} // namespace corymb::partition

// SPDX-License-Identifier: Apache-2.0
// A graph that lies in parts on the ranks of a team. docs/reference/partition.md says what can be
// done with it.
#pragma once

#include <corymb/detail/weight_list.hpp>
#include <corymb/export.hpp>
#include <corymb/rank.hpp>
#include <corymb/team.hpp>

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <vector>

namespace corymb {

namespace detail {
class GraphBuilder; // src/partition/
} // namespace detail

/// The format of a file with a graph.
enum class GraphFormat {
    automatic,     ///< By the beginning of the file and the end of its name; see read_graph.
    metis,         ///< As gpmetis reads it.
    matrix_market, ///< The structure of a square matrix, made symmetric.
    edges,         ///< Two numbers a line, or three with a weight.
};

/// One rank's part of an undirected graph with weights, and what is needed to reach the others'.
///
/// Each rank owns a range of vertices and has their rows: all their neighbours, with the weights of
/// the edges. A neighbour that another rank owns is a **ghost** here. A rank names vertices by
/// local numbers: 0 to own() - 1 are its own, those up to own() + ghosts() - 1 are ghosts.
///
/// A value of the rank's thread; reading it needs nobody. Functions that take a team are
/// collective: all ranks of the team that the graph was built on call them in the same order. They
/// throw as Team's functions.
class CORYMB_EXPORT SharedGraph {
public:
    /// The number of a vertex, in the whole graph or on this rank.
    using Vertex = std::uint32_t;
    using Weight = std::int64_t;
    struct Edge {
        Vertex from = 0;
        Vertex to = 0;
    };
    /// What one rank's part takes.
    struct Bytes {
        std::size_t data = 0;     ///< Rows, neighbours and weights.
        std::size_t overhead = 0; ///< Ghosts, what others have as ghosts, and ranges.
    };

    /// Collective. A graph of `vertices` vertices from the edges of all ranks, each of which is
    /// given once, on any rank, in any direction. Each rank gets a range of vertices with about the
    /// same number of edges. Loops are left out. Without weights an edge that is given several
    /// times counts once. With `weights`, one for each edge, weights of equal edges add up. All
    /// ranks give weights, or none does.
    ///
    /// O(edges / ranks) beside the exchange. While it is built a rank needs its edges, its part of
    /// the graph and up to half of it for messages. Throws Errc::invalid_argument for a vertex out
    /// of range and a weight below 1 or above 2^40; Errc::unsupported for 2^32 - 1 vertices or
    /// more, for 2^32 ends of edges on one rank, and for weights that add up to more than 2^52.
    [[nodiscard]] static SharedGraph from_edges(Team& team, std::uint64_t vertices,
                                                std::span<const Edge> edges,
                                                std::span<const Weight> weights = {});

    /// Vertices and edges of the whole graph, and the sum of the weights of all vertices.
    [[nodiscard]] Vertex vertices() const noexcept { return ranges_.back(); }
    [[nodiscard]] std::uint64_t edges() const noexcept { return edges_; }
    [[nodiscard]] Weight total_weight() const noexcept { return total_weight_; }

    /// The first vertex of this rank's range in the whole graph.
    [[nodiscard]] Vertex first() const noexcept { return first_; }
    [[nodiscard]] Vertex own() const noexcept { return own_; }
    [[nodiscard]] Vertex ghosts() const noexcept { return static_cast<Vertex>(ghosts_.size()); }
    /// Ends of edges at own vertices.
    [[nodiscard]] std::size_t ends() const noexcept { return targets_.size(); }
    /// The number in the whole graph of a local one.
    [[nodiscard]] Vertex global(Vertex local) const noexcept {
        return local < own_ ? first_ + local : ghosts_[local - own_];
    }
    /// The rank that owns a vertex of the whole graph. O(log ranks).
    [[nodiscard]] Rank owner(Vertex global) const noexcept;
    /// Where the range of each rank begins, and behind them the number of vertices.
    [[nodiscard]] std::span<const Vertex> ranges() const noexcept { return ranges_; }

    /// The weight of an own vertex.
    [[nodiscard]] Weight vertex_weight(Vertex own) const noexcept { return vertex_weights_[own]; }
    /// The neighbours of an own vertex, in the order of the whole graph's numbers.
    [[nodiscard]] std::span<const Vertex> neighbours(Vertex own) const noexcept {
        return {targets_.data() + rows_[own], targets_.data() + rows_[own + 1]};
    }
    /// visit(neighbour, weight of the edge) for each neighbour of an own vertex.
    template <class Visit>
    void for_each_neighbour(Vertex own, Visit&& visit) const {
        for (std::uint32_t arc = rows_[own]; arc < rows_[own + 1]; ++arc) {
            visit(targets_[arc], weights_[arc]);
        }
    }

    /// Collective. Sets the values of ghosts to those that their owners have; values are indexed by
    /// local numbers. One message to each rank that shares an edge with this one.
    template <class T>
    void update_ghosts(Team& team, std::span<T> values) const;

    [[nodiscard]] Bytes bytes() const noexcept;

private:
    friend class detail::GraphBuilder;
    SharedGraph() = default;
    /// Refuses another number of values than there are own vertices and ghosts.
    void require_size(std::size_t count) const;

    std::vector<Vertex> ranges_;
    Vertex first_ = 0;
    Vertex own_ = 0;
    std::uint64_t edges_ = 0;
    Weight total_weight_ = 0;
    std::vector<std::uint32_t> rows_; ///< Invariant: own_ + 1 places in `targets_`.
    std::vector<Vertex> targets_;     ///< Local numbers.
    detail::WeightList weights_;      ///< As `targets_`.
    detail::WeightList vertex_weights_;
    std::vector<Vertex> ghosts_;            ///< Global numbers. Invariant: ascending, so by owners.
    std::vector<std::size_t> ghost_counts_; ///< By owner.
    std::vector<Vertex> shown_;             ///< Own vertices that are ghosts elsewhere, by rank.
    std::vector<std::size_t> shown_counts_;
};

/// Collective. Reads a file, of which each rank reads its share; no rank has the whole graph.
///
/// `automatic` takes a file for Matrix Market if it begins with "%%MatrixMarket", for METIS if its
/// name ends in .metis or .graph, and otherwise for a list of edges. In such a list vertices count
/// from 0, lines that begin with # or % are comments, and numbers stand apart by blanks or commas.
/// In the other formats they count from 1.
///
/// Edges of a list or a matrix count as in from_edges. A matrix with whole numbers gives weights,
/// others give only their structure. Throws Errc::io for a file that cannot be read or breaks its
/// format: the text names file, line and reason. Throws Errc::unsupported as from_edges.
[[nodiscard]] CORYMB_EXPORT SharedGraph read_graph(Team& team, const std::filesystem::path& file,
                                                   GraphFormat format = GraphFormat::automatic);

template <class T>
void SharedGraph::update_ghosts(Team& team, std::span<T> values) const {
    require_size(values.size());
    if (team.size() == 1) {
        return;
    }
    std::vector<T> sent(shown_.size());
    for (std::size_t at = 0; at < shown_.size(); ++at) {
        sent[at] = values[shown_[at]];
    }
    team.alltoallv(std::span<const T>(sent), {shown_counts_}, values.subspan(own_),
                   {ghost_counts_});
}

} // namespace corymb

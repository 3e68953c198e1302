// SPDX-License-Identifier: Apache-2.0
// Formats of graphs in files. METIS: the manual of METIS 5, section 4.1.1. Matrix Market: Boisvert,
// Pozo, Remington, NISTIR 5935, 1996.
#pragma once

#include "partition/graph_builder.hpp"
#include "partition/graph_lines.hpp"

#include <cstdint>
#include <filesystem>
#include <limits>
#include <string>
#include <string_view>

namespace corymb::partition {

inline constexpr std::uint64_t vertices_most = std::numeric_limits<Vertex>::max() - 1;
inline constexpr auto weight_in_file_most = static_cast<std::uint64_t>(weight_most);

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

[[nodiscard]] bool is_comment(std::string_view line, GraphFormat format) noexcept;
/// For texts of faults: not too long.
[[nodiscard]] std::string in_quotes(std::string_view word);

/// Collective: what the file begins with, as rank 0 has read it.
[[nodiscard]] Header read_header(Team& team, const TextFile& file,
                                 const std::filesystem::path& path, GraphFormat format);
/// This rank's share of the lines behind the header.
[[nodiscard]] Lines own_lines(const Team& team, const TextFile& file, const Header& header);

/// Collective: a list of edges or a matrix, with an edge in each line.
[[nodiscard]] SharedGraph read_edges(Team& team, const TextFile& file, const Header& header);
/// Collective: METIS, with a vertex in each line.
[[nodiscard]] SharedGraph read_rows(Team& team, const TextFile& file, const Header& header);

} // namespace corymb::partition

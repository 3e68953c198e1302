// SPDX-License-Identifier: Apache-2.0
#include "partition/graph_format.hpp"

#include <algorithm>
#include <cctype>
#include <optional>
#include <string>
#include <string_view>

namespace corymb::partition {

namespace {

constexpr std::uint64_t count_most = std::uint64_t{1} << 62;

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

} // namespace

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

bool is_comment(std::string_view line, GraphFormat format) noexcept {
    return line.starts_with('%') || (format == GraphFormat::edges && line.starts_with('#'));
}

std::string in_quotes(std::string_view word) {
    return "'" + std::string(word.substr(0, 40)) + (word.size() > 40 ? "...'" : "'");
}

Lines own_lines(const Team& team, const TextFile& file, const Header& header) {
    const auto size = static_cast<std::uint64_t>(team.size());
    const auto rank = static_cast<std::uint64_t>(team.rank());
    const std::uint64_t length = file.size() - header.data;
    const auto at = [&](std::uint64_t part) {
        return header.data + length / size * part + length % size * part / size;
    };
    return {file, at(rank), at(rank + 1)};
}

} // namespace corymb::partition

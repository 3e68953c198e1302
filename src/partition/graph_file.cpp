// SPDX-License-Identifier: Apache-2.0
#include "partition/collective.hpp"
#include "partition/graph_format.hpp"

namespace corymb {

SharedGraph read_graph(Team& team, const std::filesystem::path& path, GraphFormat format) {
    return partition::collective(team, [&] {
        const partition::TextFile file(team, path);
        const partition::Header header = partition::read_header(team, file, path, format);
        return header.format == GraphFormat::metis ? partition::read_rows(team, file, header)
                                                   : partition::read_edges(team, file, header);
    });
}

} // namespace corymb

// SPDX-License-Identifier: Apache-2.0
// Hostile graph files: reading them must end in a graph whose edges are named at both ends, or in
// an Error. The first byte chooses the format.
#include <corymb/error.hpp>
#include <corymb/shared_graph.hpp>
#include <corymb/team.hpp>

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <sys/mman.h>
#include <unistd.h>

namespace {

void check(const corymb::SharedGraph& graph) {
    std::uint64_t ends = 0;
    for (corymb::SharedGraph::Vertex own = 0; own < graph.own(); ++own) {
        graph.for_each_neighbour(own, [&](auto to, auto weight) {
            bool is_named = false;
            graph.for_each_neighbour(to, [&](auto back, auto back_weight) {
                is_named = is_named || (back == own && back_weight == weight);
            });
            ++ends;
            if (!is_named || weight < 1) {
                std::abort();
            }
        });
    }
    if (ends != 2 * graph.edges()) {
        std::abort();
    }
}

/// Sizes in headers are believed, and a large graph needs memory.
bool names_many_vertices(const std::uint8_t* data, std::size_t size) {
    std::size_t digits = 0;
    for (std::size_t at = 0; at < size; ++at) {
        digits = data[at] >= '0' && data[at] <= '9' ? digits + 1 : 0;
        if (digits > 5) {
            return true;
        }
    }
    return false;
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using corymb::GraphFormat;
    constexpr GraphFormat formats[] = {GraphFormat::automatic, GraphFormat::metis,
                                       GraphFormat::matrix_market, GraphFormat::edges};
    if (size == 0 || names_many_vertices(data, size)) {
        return 0;
    }
    const int file = ::memfd_create("graph", 0);
    if (file < 0 || ::write(file, data + 1, size - 1) != static_cast<ssize_t>(size - 1)) {
        std::abort();
    }
    try {
        corymb::threads(1, [&](corymb::Team& team) {
            check(corymb::read_graph(team, "/proc/self/fd/" + std::to_string(file),
                                     formats[data[0] % 4]));
        });
    } catch (const corymb::Error&) {
    }
    ::close(file);
    return 0;
}

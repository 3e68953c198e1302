// SPDX-License-Identifier: Apache-2.0
#include "cluster/places.hpp"

#include <corymb/error.hpp>

#include <algorithm>
#include <string>

namespace corymb::cluster {

void check_places(const std::vector<int>& node_of_rank, Rank rank) {
    const auto size = static_cast<Rank>(node_of_rank.size());
    if (rank < 0 || rank >= size) {
        throw Error(Errc::invalid_argument, "rank " + std::to_string(rank) +
                                                " is out of range; node_of_rank has " +
                                                std::to_string(size) + " ranks");
    }
    std::vector<int> seen = node_of_rank;
    std::ranges::sort(seen);
    seen.erase(std::ranges::unique(seen).begin(), seen.end());
    if (seen.front() != 0 || seen.back() != static_cast<int>(seen.size()) - 1) {
        throw Error(Errc::invalid_argument,
                    "node_of_rank must number the nodes from 0, each with a rank");
    }
}

} // namespace corymb::cluster

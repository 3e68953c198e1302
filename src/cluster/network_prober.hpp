// SPDX-License-Identifier: Apache-2.0
// Measures the costs of messages between two nodes, as in corymb-cluster/1.
#pragma once

#include <corymb/carrier.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace corymb::cluster {

/// Ranks of two nodes that send to each other, the i-th to the i-th; as many as both have.
struct Pairs {
    std::vector<Rank> askers;
    std::vector<Rank> answerers;
};
/// At most `most` pairs of ranks of nodes `one` and `other`.
[[nodiscard]] Pairs pairs_of(const std::vector<int>& node_of_rank, int one, int other,
                             std::size_t most);

/// How much a measurement may take.
struct Effort {
    std::int64_t share_ns = 0; ///< Time for each measurement; there are four to ten.
    std::size_t stream_bytes_most = 0;
    double stream_rounds = 0; ///< A stream is long enough when it takes so many round trips.
    std::chrono::nanoseconds deadline{}; ///< Deadline of each message.
};

/// Measures between two nodes. Ranks that are not in `pairs` do nothing; the first of each side
/// comes to know the result, others get zeros. Throws Errc::timeout when a peer does not answer.
[[nodiscard]] Network measure_pair(Carrier& carrier, const Pairs& pairs, Rank rank,
                                   const Effort& effort);

/// Half a round trip of a few bytes while all of these pairs have one, in ns; 0 for ranks that are
/// not in `pairs`.
[[nodiscard]] double half_trip_together(Carrier& carrier, const Pairs& pairs, Rank rank,
                                        const Effort& effort);

} // namespace corymb::cluster

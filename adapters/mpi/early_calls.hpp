// SPDX-License-Identifier: Apache-2.0
// How long the blocking collectives of a communicator are left to the MPI before its ranks meet to
// make a team. Many communicators do not live long. On one node that is a number of calls; between
// nodes, where a team takes tens of milliseconds and a network that nobody knows some tenths of a
// second, calls have to take several times as long first, so that a short program does not pay for
// what it cannot make use of.
#pragma once

#include <cstdint>

namespace corymb::mpi {

struct Group;

struct EarlyCalls {
    static constexpr int on_any_nodes = 3;
    /// What calls between nodes have to take on a rank.
    static constexpr std::int64_t known_network_ns = 200'000'000;
    static constexpr std::int64_t new_network_ns = 1'000'000'000;

    int made = 0;               ///< The same on all ranks.
    int until = on_any_nodes;   ///< The next one is where ranks meet.
    std::int64_t ns = 0;        ///< That they have taken on this rank.
    std::int64_t wanted_ns = 0; ///< Not 0: on several nodes, and so long are they to take.
};

/// Collective over the communicator: whether its calls have taken as long on any rank as is wanted.
/// If not, ranks meet again when they are about to.
[[nodiscard]] bool have_taken_long(Group& group) noexcept;

} // namespace corymb::mpi

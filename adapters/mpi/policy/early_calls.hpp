// SPDX-License-Identifier: Apache-2.0
// Leaves the first calls of a communicator to the MPI, until its ranks meet to make a team. Many
// communicators do not live long. On one node the ranks meet after a number of blocking
// collectives. Between nodes a team takes tens of milliseconds, and an unknown network some tenths
// of a second. There calls have to take several times as long first, so that a short program does
// not pay for a team that it cannot use.
#pragma once

#include <cstdint>

namespace corymb::mpi {

struct Communicator;

struct EarlyCalls {
    static constexpr int at_first = 3; ///< Without a look at the time.
    /// The time that calls between nodes have to take on a rank.
    static constexpr std::int64_t known_network_ns = 200'000'000;
    static constexpr std::int64_t new_network_ns = 1'000'000'000;

    int made = 0;         ///< Blocking collectives; equal on all ranks.
    int until = at_first; ///< Number of calls after which the ranks meet.
    std::int64_t ns = 0;  ///< Time on this rank of those calls that corymb could do.
    /// Not 0: the ranks are on several nodes, and calls have to take so long.
    std::int64_t wanted_ns = 0;
};

/// Collective over the communicator: ranks agree whether its calls have taken as long on any of
/// them as is wanted. If not, they meet again after twice as many.
[[nodiscard]] bool agree_that_long_enough(Communicator& communicator) noexcept;

/// A communicator goes that has waited for its team: the next one need not wait as long.
void keep_early_time(const Communicator& communicator) noexcept;

} // namespace corymb::mpi

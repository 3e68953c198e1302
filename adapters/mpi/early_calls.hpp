// SPDX-License-Identifier: Apache-2.0
// How long the calls of a communicator are left to the MPI before its ranks meet to make a team.
// Many communicators do not live long. On one node that is a number of blocking collectives;
// between nodes, where a team takes tens of milliseconds and a network that nobody knows some
// tenths of a second, calls have to take several times as long first, so that a short program does
// not pay for what it cannot make use of.
#pragma once

#include <cstdint>

namespace corymb::mpi {

struct Group;

struct EarlyCalls {
    static constexpr int at_first = 3; ///< Without a look at the time.
    /// What calls between nodes have to take on a rank.
    static constexpr std::int64_t known_network_ns = 200'000'000;
    static constexpr std::int64_t new_network_ns = 1'000'000'000;

    int made = 0;               ///< Blocking collectives: the same on all ranks.
    int until = at_first;       ///< After so many of them ranks meet.
    std::int64_t ns = 0;        ///< What those have taken on this rank that corymb could do.
    std::int64_t wanted_ns = 0; ///< Not 0: on several nodes, and so long are they to take.
};

/// Collective over the communicator: ranks agree whether its calls have taken as long on any of
/// them as is wanted. If not, they meet again after twice as many.
[[nodiscard]] bool agree_that_long_enough(Group& group) noexcept;

/// A communicator goes that has waited for its team: the next one need not wait as long.
void keep_early_time(const Group& group) noexcept;

} // namespace corymb::mpi

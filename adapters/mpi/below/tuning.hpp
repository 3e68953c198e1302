// SPDX-License-Identifier: Apache-2.0
// All numbers of how often the adapter looks after the MPI below. Each says its unit, its origin,
// and what goes wrong when it is too small or too large.
#pragma once

#include <cstdint>

namespace corymb::mpi::tuning {

/// Time between the visits of a wait at first, in ns. Reasoning: about what a message of the MPI
/// takes between nodes. Too small: waits look at the MPI more than at their word. Too large: a peer
/// that waits in the MPI waits as much longer.
inline constexpr std::int64_t progress_every_ns = 20'000;
/// Looks in a row before a wait gives the CPU away. Reasoning: as long as a fast message takes. Too
/// small: such messages wait for a turn. Too large: peers on the same CPU wait.
inline constexpr int polls_awake = 200;
/// Visits take at most about one part of so many of a CPU's time, together for all ranks that share
/// it: an MPI may be slow to look, where it yields or takes locks. Reasoning: 6 % is hardly
/// noticed. Too small: two ranks that call the MPI in each wait keep each other waiting.
inline constexpr std::int64_t progress_is_one_part_of = 16;
/// But they are no further apart than that, in ns. Reasoning: a scheduler's slice or two. Too
/// large: a rank that waits in the MPI waits for as long.
inline constexpr std::int64_t progress_apart_most_ns = 5'000'000;
/// A rank that was not in the MPI for so long, in ns, looks several times in a row: the MPI looks
/// only now and then after some of its ways, and one answer may lead to the next request.
/// Reasoning: ten visits of a wait. Too large: requests of slow callers take several visits.
inline constexpr std::int64_t seldom_ns = 200'000;
/// Those looks, and the time after which they end, in ns. Reasoning: MPIs look at slow ways once in
/// 8 to 32 looks, and 50 us are what a sleep costs. Too large: visits take long.
inline constexpr int polls_in_a_row = 64;
inline constexpr std::int64_t polls_most_ns = 50'000;

} // namespace corymb::mpi::tuning

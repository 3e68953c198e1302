// SPDX-License-Identifier: Apache-2.0
// How many messages channels really hold: more than plans may rely on.
#pragma once

#include <corymb/plan.hpp>

#include <algorithm>
#include <bit>
#include <cstddef>

namespace corymb::plan {

/// Where ranks take turns on a CPU, a turn is worth as many messages as a ring holds: with 32 lines
/// instead of 8 broadcasts of 4 ranks on 2 CPUs follow each other three times as fast.
inline constexpr std::size_t line_ring_slots = 8 * line_slots;
/// A block of cell_bytes may need two cells when its length is rounded up to whole elements.
inline constexpr std::size_t cell_ring_slots_least = 2 * cell_slots;

/// Slots of the channel of cells between two ranks of a team. A core that writes lines which are
/// still in the caches of the one that has read them waits for each; after some megabytes they are
/// not (two cores with 1 MiB each and a common cache: 64 KiB in 3.0 us instead of 7.5). So the
/// rings that a rank reads have 2 MiB together, unless it has many peers.
[[nodiscard]] constexpr std::size_t cell_ring_slots(int ranks) noexcept {
    constexpr std::size_t all = 256;
    const auto peers = static_cast<std::size_t>(std::max(ranks - 1, 1));
    return std::max(std::bit_floor(all / std::min(peers, all)), cell_ring_slots_least);
}
/// A message of so many bytes fits its channel of cells, in a team of this size and in any.
[[nodiscard]] constexpr std::size_t cell_ring_bytes(int ranks) noexcept {
    return cell_ring_slots(ranks) * cell_bytes;
}
inline constexpr std::size_t cell_ring_bytes_least = cell_ring_slots_least * cell_bytes;

} // namespace corymb::plan

// SPDX-License-Identifier: Apache-2.0
// How much the channels between two ranks hold. Teams and measurements use the types made from it
// (channels.hpp); plans count on the part of it that they may rely on (plan/channel_room.hpp).
#pragma once

#include "base/cache_line.hpp"

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>

namespace corymb::channel {

/// Payload of a cache line beside its sequence, in bytes.
inline constexpr std::size_t line_payload = 56;
/// Payload each way of a line that both ends write, beside the two sequences, in bytes.
inline constexpr std::size_t exchange_payload = 8;
/// Payload of one slot of a channel of cells, in bytes.
inline constexpr std::size_t cell_payload = 8192;

/// Slots of a ring of lines. If ranks take turns on a CPU, a rank does in one turn as much as the
/// ring holds, so a ring is longer than plans need.
inline constexpr std::size_t line_ring_slots = 32;
/// The receiver of lines tells the sender at least each so many that slots are free. With half of
/// the ring the sender goes on while the receiver works on the other half.
inline constexpr std::size_t line_credit_every = line_ring_slots / 2;

/// Slots of the shortest channel of cells. A block of one cell may need two, when its length is
/// rounded up to whole elements.
inline constexpr std::size_t cell_ring_slots_least = 8;
/// Slots of all channels of cells that one rank reads, together.
inline constexpr std::size_t cell_slots_of_a_rank = 256;

/// Slots of the channel of cells between two ranks of a team. A core that writes lines which are
/// still in the caches of their reader waits for each of them. Long channels let the lines leave
/// those caches first; many peers share the memory.
[[nodiscard]] constexpr std::size_t cell_ring_slots(int ranks) noexcept {
    const auto peers = static_cast<std::size_t>(std::max(ranks - 1, 1));
    return std::max(std::bit_floor(cell_slots_of_a_rank / std::min(peers, cell_slots_of_a_rank)),
                    cell_ring_slots_least);
}

static_assert(line_credit_every >= 1 && line_credit_every <= line_ring_slots);
static_assert(cell_slots_of_a_rank >= cell_ring_slots_least);
static_assert(line_payload + sizeof(std::uint64_t) == cache_line_bytes);

} // namespace corymb::channel

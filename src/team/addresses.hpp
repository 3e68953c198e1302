// SPDX-License-Identifier: Apache-2.0
// Messages of one line in which ranks tell each other the places of their buffers.
#pragma once

#include "team/caches.hpp"

#include <corymb/plan.hpp>

#include <cstddef>

namespace corymb::team {

/// The place of a message in the memory of its sender.
struct Address {
    const std::byte* data; ///< Null: in a cell.
    std::size_t bytes;
};
static_assert(sizeof(Address) <= line_payload_bytes);

inline constexpr std::size_t enclosed_bytes = line_payload_bytes - sizeof(Address);

/// In a small team of processes, messages up to `copied_bytes` go through cells in plans for any
/// length. Most of a short message has been copied twice before the kernel begins to copy. Between
/// cores that share a cache, cells are faster until they leave it. Larger teams do without, because
/// channels take memory for each two ranks.
inline constexpr std::size_t copying_ranks_most = 16;
[[nodiscard]] constexpr std::size_t copied_bytes(Caches caches) noexcept {
    return std::size_t{caches == Caches::near ? 512U : 64U} << 10;
}

/// A short message that comes along with its address.
struct Letter {
    Address address;
    std::byte enclosed[enclosed_bytes];
};
static_assert(sizeof(Letter) == line_payload_bytes);

/// The place where a peer may write and, if the peer combines, the place of the other operand.
struct Room {
    Address to;
    Address from;
};
static_assert(sizeof(Room) <= line_payload_bytes);

} // namespace corymb::team

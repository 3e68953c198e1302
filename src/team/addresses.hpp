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

/// Between processes, in teams of so many ranks at most since channels take memory for each two,
/// messages of plans for any length go through cells up to so many bytes: before the kernel has
/// begun to copy, most of a short one has been copied twice. Between cores with a cache together
/// cells are faster until they leave that.
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

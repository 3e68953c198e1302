// SPDX-License-Identifier: Apache-2.0
// Messages of one line in which ranks tell each other the places of their buffers.
#pragma once

#include "base/assert.hpp"

#include <corymb/plan.hpp>

#include <cstddef>
#include <cstring>

namespace corymb::team {

/// The place of a message in the memory of its sender.
struct Address {
    const std::byte* data; ///< Null: in a cell.
    std::size_t bytes;
};
static_assert(sizeof(Address) <= line_payload_bytes);

static_assert(sizeof(Address) + enclosed_bytes == line_payload_bytes);

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

/// An Address, or a Room, out of a message.
template <class Places>
[[nodiscard]] Places places_in(const std::byte* message) {
    Places places;
    std::memcpy(&places, message, sizeof places);
    CORYMB_DEBUG_ASSERT(std::memcmp(&places, message, sizeof places) == 0);
    return places;
}

} // namespace corymb::team

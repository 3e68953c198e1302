// SPDX-License-Identifier: Apache-2.0
// The real capacity of channels: at least as much as plans may rely on.
#pragma once

#include "channel/sizes.hpp"

#include <corymb/plan.hpp>

#include <cstddef>

namespace corymb::plan {

static_assert(channel::line_payload == line_payload_bytes);
static_assert(channel::exchange_payload == exchange_payload_bytes);
static_assert(channel::cell_payload == cell_bytes);
static_assert(channel::line_ring_slots >= line_slots);
static_assert(channel::cell_ring_slots_least == cell_slots_least);
static_assert(channel::cell_slots_of_a_rank <= cell_slots_most);
// A message of one cell may need two slots.
static_assert(cell_slots_least >= 2 * line_slots);

using channel::cell_ring_slots;

/// A message of so many bytes fits its channel of cells in a team of this size.
[[nodiscard]] constexpr std::size_t cell_ring_bytes(int ranks) noexcept {
    return cell_ring_slots(ranks) * cell_bytes;
}
/// A message of so many bytes fits any channel of cells.
inline constexpr std::size_t cell_ring_bytes_least = channel::cell_ring_slots_least * cell_bytes;

} // namespace corymb::plan

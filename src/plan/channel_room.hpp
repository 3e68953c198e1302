// SPDX-License-Identifier: Apache-2.0
// How many messages channels really hold: more than plans may rely on.
#pragma once

#include <corymb/plan.hpp>

#include <cstddef>

namespace corymb::plan {

/// Where ranks take turns on a CPU, a turn is worth as many messages as a ring holds: with 32 lines
/// instead of 8 broadcasts of 4 ranks on 2 CPUs follow each other three times as fast.
inline constexpr std::size_t line_ring_slots = 8 * line_slots;
/// A block of cell_bytes may need two cells when its length is rounded up to whole elements.
inline constexpr std::size_t cell_ring_slots = 2 * cell_slots;
/// A message of so many bytes fits its channel of cells.
inline constexpr std::size_t cell_ring_bytes = cell_ring_slots * cell_bytes;

} // namespace corymb::plan

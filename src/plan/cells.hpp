// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <corymb/plan.hpp>

#include <cstdint>

namespace corymb::plan {

/// The most slots that a message of these blocks takes in a channel of cells, for any length of an
/// element. A value above cell_slots_most: no channel holds the message. O(1).
[[nodiscard]] std::uint64_t cells_of(const Plan& plan, const Blocks& blocks) noexcept;

} // namespace corymb::plan

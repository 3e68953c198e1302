// SPDX-License-Identifier: Apache-2.0
// The levels that a user gives a machine.
#pragma once

#include <corymb/machine.hpp>

#include <span>
#include <string>

namespace corymb {

/// The first thing that is wrong with given levels, without a full stop; "" if they are partitions
/// of all PUs, each within the one before. O(levels * size).
[[nodiscard]] std::string trouble_with(std::span<const GivenLevel> levels, std::span<const Pu> pus);

} // namespace corymb

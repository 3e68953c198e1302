// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "plan/matching.hpp"

#include <cstdint>

namespace corymb::tune {

/// The length of the plan's longest chain of messages, signals and publications in which each is
/// sent by a rank that has waited for the one before. Throws Errc::invalid_plan for a plan that
/// never ends. O(steps).
[[nodiscard]] std::uint32_t messages_in_a_row(const plan::Matching& matching);

} // namespace corymb::tune

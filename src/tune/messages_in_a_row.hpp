// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "plan/matching.hpp"

#include <cstdint>

namespace corymb::tune {

/// Most messages, signals and publications of a plan of which each is sent by a rank that has
/// waited for the one before. Of a plan that never ends, as far as it goes. O(steps times what it
/// returns).
[[nodiscard]] std::uint32_t messages_in_a_row(const plan::Matching& matching);

} // namespace corymb::tune

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace corymb::team {

/// What is known of the caches of neighbouring ranks: some are far from each other, or none that
/// were timed.
enum class Caches : std::uint32_t { unknown, near, far };

} // namespace corymb::team

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace corymb::team {

/// A team's findings about the caches of neighbouring ranks. `far`: some pair shares no cache.
/// `near`: every pair that was timed shares one. `unknown`: no pair was timed.
enum class Caches : std::uint32_t { unknown, near, far };

} // namespace corymb::team

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace corymb {

/// Number of a participant within its team, group or plan, from 0.
using Rank = std::int32_t;

} // namespace corymb

// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace corymb {

/// Rate of a copy on a model without bandwidths, in 10^9 bytes a second: one core of a server of
/// the 2010s, out of a cache (docs/explain/model.md).
inline constexpr double assumed_copy_gbs = 10;

} // namespace corymb

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <corymb/machine.hpp>

#include <cstdint>

namespace corymb {

/// Time of one byte of a payload of so many, out of a `transfer` curve with at least one point.
/// Between the points it is a line over the logarithm of the length, beyond them constant.
[[nodiscard]] double time_per_byte(const Curve& curve, std::uint64_t bytes);

} // namespace corymb

// SPDX-License-Identifier: Apache-2.0
// The measured curves of a model between and beyond their points.
#pragma once

#include <corymb/machine.hpp>

#include <span>

namespace corymb {

/// The curve of a pair class, or null.
[[nodiscard]] const Curve* curve_of(std::span<const Curve> curves, int pair_class) noexcept;

/// The total for `count` >= 0: a line between neighbouring points, from (0, 0) before the first,
/// and on with the slope of the last stretch behind the last.
[[nodiscard]] double total_at(std::span<const int> counts, std::span<const double> values,
                              int count) noexcept;
[[nodiscard]] inline double total_at(const Curve& curve, int count) noexcept {
    return total_at(curve.count, curve.value, count);
}

/// Cost of the `count`-th item of a batch, relative to the first: 1 without a curve.
[[nodiscard]] double batch_factor(const Curve* curve, int count) noexcept;

} // namespace corymb

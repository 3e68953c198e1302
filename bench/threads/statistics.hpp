// SPDX-License-Identifier: Apache-2.0
// The few statistics that the benchmark reports.
#pragma once

#include <span>
#include <vector>

namespace corymb::bench {

struct Quartiles {
    double q25 = 0, median = 0, q75 = 0;
};

/// Linear interpolation between order statistics; all zero for no samples.
Quartiles quartiles(std::vector<double> samples);

/// Spearman's rank correlation, ties at their mean rank. NaN for fewer than two pairs or when one
/// side is constant.
double spearman(std::span<const double> x, std::span<const double> y);

} // namespace corymb::bench

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

/// The value that such a part of the samples is below, by the same interpolation; 0 for none.
double quantile(std::vector<double> samples, double part);

/// Spearman's rank correlation, ties at their mean rank. NaN for fewer than two pairs or when one
/// side is constant.
double spearman(std::span<const double> x, std::span<const double> y);

} // namespace corymb::bench

// SPDX-License-Identifier: Apache-2.0
// Robust statistics. Means are wrong for timings, which have one-sided outliers; minima are wrong
// for planning, since a plan waits for the usual case (Hoefler and Belli, SC 2015).
#pragma once

#include <corymb/machine.hpp>

#include <span>
#include <vector>

namespace corymb::discover {

/// Linear interpolation between order statistics; NaN for no values. O(n log n).
double quantile(std::vector<double> values, double share);
double median(std::vector<double> values);

/// Mean of the middle half: as robust as the median against outliers, but averages out the steps of
/// a coarse clock. NaN for no values.
double midmean(std::vector<double> values);

/// Median, quartiles and count.
Statistic summarize(const std::vector<double>& values);

/// Half the width of the 95 % interval of the median, from order statistics and so without an
/// assumption on the distribution, relative to the median. Infinite below six values.
double median_half_width(std::vector<double> values);

/// Pearson correlation; NaN when either side is constant or there are fewer than three pairs.
double correlation(std::span<const double> x, std::span<const double> y);

} // namespace corymb::discover

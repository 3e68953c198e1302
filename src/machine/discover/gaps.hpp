// SPDX-License-Identifier: Apache-2.0
// Cuts a list of costs where it jumps.
#pragma once

#include <vector>

namespace corymb::discover {

/// Thresholds between neighbouring sorted values whose ratio exceeds `ratio`, ascending; each is
/// the geometric mean of its neighbours. Values that are NaN or not positive do not count.
std::vector<double> gap_thresholds(std::vector<double> values, double ratio);

/// The same, and clusters that are wide without a jump (the continuum of a mesh) are cut at equal
/// ratios, so that within a cluster no two values differ by more than about `spread`.
std::vector<double> class_thresholds(const std::vector<double>& values, double ratio,
                                     double spread);

/// Number of thresholds below the value.
int cluster_of(double value, const std::vector<double>& thresholds);

} // namespace corymb::discover

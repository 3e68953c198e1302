// SPDX-License-Identifier: Apache-2.0
// Where a set of measured values falls apart into classes.
#pragma once

#include <vector>

namespace corymb::model {

/// A measured value that stands for `mass` pairs.
struct WeightedValue {
    double value;
    double mass;
};

/// The class boundaries in a set of positive values, ascending; none when they form one class.
///
/// A boundary is a gap in the distribution that is wider than the noise: at least 20 % (5 % when
/// the values repeat exactly, as in matrices whose entries were replaced by their class median) and
/// at least three quarters of the spread of the classes on both sides. A class has at least
/// `mass_min`; stray values in a gap, with less than an eighth of that near them, do not close it.
/// The idea is MCTOP's (Chatzopoulos et al., EuroSys 2017), which looks for gaps in the cumulative
/// distribution too, but there with fixed limits. O(n log n).
[[nodiscard]] std::vector<double> find_cuts(std::vector<WeightedValue> values, double mass_min);

/// Number of cuts below `value`: the index of its class.
[[nodiscard]] int class_of_value(double value, const std::vector<double>& cuts) noexcept;

} // namespace corymb::model

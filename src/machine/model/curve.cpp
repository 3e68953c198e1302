// SPDX-License-Identifier: Apache-2.0
#include "machine/model/curve.hpp"

#include <algorithm>

namespace corymb {

const Curve* curve_of(std::span<const Curve> curves, int pair_class) noexcept {
    for (const Curve& curve : curves) {
        if (curve.pair_class == pair_class && !curve.count.empty() &&
            curve.count.size() == curve.value.size()) {
            return &curve;
        }
    }
    return nullptr;
}

double total_at(std::span<const int> counts, std::span<const double> values, int count) noexcept {
    int count_before = 0;
    double value_before = 0;
    double slope = 0;
    for (std::size_t point = 0; point < counts.size(); ++point) {
        const int step = counts[point] - count_before;
        if (step <= 0) {
            continue;
        }
        slope = (values[point] - value_before) / step;
        if (count <= counts[point]) {
            break;
        }
        count_before = counts[point];
        value_before = values[point];
    }
    return value_before + slope * (count - count_before);
}

double batch_factor(const Curve* curve, int count) noexcept {
    if (curve == nullptr || count <= 1) {
        return 1;
    }
    const double first = total_at(*curve, 1);
    if (!(first > 0)) {
        return 1;
    }
    // Noise can make a measured total fall; time never runs backwards.
    return std::max(0.0, (total_at(*curve, count) - total_at(*curve, count - 1)) / first);
}

} // namespace corymb

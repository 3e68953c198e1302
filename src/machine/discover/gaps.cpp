// SPDX-License-Identifier: Apache-2.0
#include "machine/discover/gaps.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <utility>

namespace corymb::discover {
namespace {

std::vector<double> usable_sorted(std::vector<double> values) {
    std::erase_if(values, [](double value) { return !(value > 0) || !std::isfinite(value); });
    std::sort(values.begin(), values.end());
    return values;
}

} // namespace

std::vector<double> gap_thresholds(std::vector<double> values, double ratio) {
    values = usable_sorted(std::move(values));
    std::vector<double> thresholds;
    for (std::size_t i = 1; i < values.size(); ++i) {
        if (values[i] > ratio * values[i - 1]) {
            thresholds.push_back(std::sqrt(values[i] * values[i - 1]));
        }
    }
    return thresholds;
}

std::vector<double> class_thresholds(const std::vector<double>& values, double ratio,
                                     double spread) {
    const std::vector<double> sorted = usable_sorted(values);
    const std::vector<double> gaps = gap_thresholds(sorted, ratio);
    std::vector<double> thresholds = gaps;
    auto begin = sorted.begin();
    for (std::size_t cluster = 0; cluster <= gaps.size() && begin != sorted.end(); ++cluster) {
        const auto end = cluster < gaps.size()
                             ? std::upper_bound(begin, sorted.end(), gaps[cluster])
                             : sorted.end();
        // The outer twentieths are left aside: an outlier is no reason to cut.
        const auto count = end - begin;
        const double low = *(begin + count / 20);
        const double high = *(end - 1 - count / 20);
        const int parts = static_cast<int>(std::ceil(std::log(high / low) / std::log(spread)));
        for (int part = 1; part < parts; ++part) {
            thresholds.push_back(low * std::pow(high / low, static_cast<double>(part) / parts));
        }
        begin = end;
    }
    std::sort(thresholds.begin(), thresholds.end());
    return thresholds;
}

int cluster_of(double value, const std::vector<double>& thresholds) {
    return static_cast<int>(std::lower_bound(thresholds.begin(), thresholds.end(), value) -
                            thresholds.begin());
}

} // namespace corymb::discover

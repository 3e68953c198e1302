// SPDX-License-Identifier: Apache-2.0
#include "machine/discover/statistics.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <numeric>
#include <utility>

namespace corymb::discover {
namespace {

double sorted_quantile(const std::vector<double>& sorted, double share) {
    if (sorted.empty()) {
        return Statistic::missing;
    }
    const double position = share * static_cast<double>(sorted.size() - 1);
    const auto below = static_cast<std::size_t>(position);
    const std::size_t above = std::min(below + 1, sorted.size() - 1);
    const double weight = position - static_cast<double>(below);
    return sorted[below] * (1 - weight) + sorted[above] * weight;
}

} // namespace

double quantile(std::vector<double> values, double share) {
    std::sort(values.begin(), values.end());
    return sorted_quantile(values, share);
}

double median(std::vector<double> values) {
    return quantile(std::move(values), 0.5);
}

double midmean(std::vector<double> values) {
    std::sort(values.begin(), values.end());
    const std::size_t cut = values.size() / 4;
    const auto first = values.begin() + static_cast<std::ptrdiff_t>(cut);
    const auto last = values.end() - static_cast<std::ptrdiff_t>(cut);
    if (first == last) {
        return Statistic::missing;
    }
    return std::accumulate(first, last, 0.0) / static_cast<double>(last - first);
}

Statistic summarize(const std::vector<double>& values) {
    std::vector<double> sorted = values;
    std::sort(sorted.begin(), sorted.end());
    return {.median = sorted_quantile(sorted, 0.5),
            .q25 = sorted_quantile(sorted, 0.25),
            .q75 = sorted_quantile(sorted, 0.75),
            .count = static_cast<std::int64_t>(sorted.size())};
}

double median_half_width(std::vector<double> values) {
    const double n = static_cast<double>(values.size());
    if (values.size() < 6) {
        return std::numeric_limits<double>::infinity();
    }
    std::sort(values.begin(), values.end());
    // Ranks (from 1) of the binomial interval in its normal approximation (Le Boudec, 2010, 2.2).
    const double reach = 1.96 * std::sqrt(n);
    const double low = std::max(1.0, std::floor((n - reach) / 2));
    const double high = std::min(n, std::ceil(1 + (n + reach) / 2));
    const double width =
        values[static_cast<std::size_t>(high) - 1] - values[static_cast<std::size_t>(low) - 1];
    const double middle = sorted_quantile(values, 0.5);
    return middle > 0 ? width / 2 / middle : std::numeric_limits<double>::infinity();
}

double correlation(std::span<const double> x, std::span<const double> y) {
    const std::size_t n = std::min(x.size(), y.size());
    if (n < 3) {
        return Statistic::missing;
    }
    const double count = static_cast<double>(n);
    const double mean_x =
        std::accumulate(x.begin(), x.begin() + static_cast<std::ptrdiff_t>(n), 0.0) / count;
    const double mean_y =
        std::accumulate(y.begin(), y.begin() + static_cast<std::ptrdiff_t>(n), 0.0) / count;
    double xx = 0;
    double yy = 0;
    double xy = 0;
    for (std::size_t i = 0; i < n; ++i) {
        xx += (x[i] - mean_x) * (x[i] - mean_x);
        yy += (y[i] - mean_y) * (y[i] - mean_y);
        xy += (x[i] - mean_x) * (y[i] - mean_y);
    }
    return xx > 0 && yy > 0 ? xy / std::sqrt(xx * yy) : Statistic::missing;
}

} // namespace corymb::discover

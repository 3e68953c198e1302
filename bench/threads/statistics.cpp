// SPDX-License-Identifier: Apache-2.0
#include "statistics.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <numeric>

namespace corymb::bench {

namespace {

double at(const std::vector<double>& sorted, double part) {
    const double position = part * static_cast<double>(sorted.size() - 1);
    const auto below = static_cast<std::size_t>(position);
    const std::size_t above = std::min(below + 1, sorted.size() - 1);
    const double weight = position - static_cast<double>(below);
    return sorted[below] + weight * (sorted[above] - sorted[below]);
}

std::vector<double> ranks_of(std::span<const double> values) {
    std::vector<std::size_t> order(values.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::sort(order.begin(), order.end(),
              [&](std::size_t a, std::size_t b) { return values[a] < values[b]; });
    std::vector<double> ranks(values.size());
    for (std::size_t begin = 0; begin < order.size();) {
        std::size_t end = begin + 1;
        while (end < order.size() && values[order[end]] == values[order[begin]]) {
            ++end;
        }
        const double mean = static_cast<double>(begin + end - 1) / 2;
        for (std::size_t i = begin; i < end; ++i) {
            ranks[order[i]] = mean;
        }
        begin = end;
    }
    return ranks;
}

} // namespace

Quartiles quartiles(std::vector<double> samples) {
    if (samples.empty()) {
        return {};
    }
    std::sort(samples.begin(), samples.end());
    return {at(samples, 0.25), at(samples, 0.5), at(samples, 0.75)};
}

double quantile(std::vector<double> samples, double part) {
    if (samples.empty()) {
        return 0;
    }
    std::sort(samples.begin(), samples.end());
    return at(samples, part);
}

double spearman(std::span<const double> x, std::span<const double> y) {
    constexpr double undefined = std::numeric_limits<double>::quiet_NaN();
    if (x.size() != y.size() || x.size() < 2) {
        return undefined;
    }
    const auto a = ranks_of(x);
    const auto b = ranks_of(y);
    const double mean = static_cast<double>(a.size() - 1) / 2;
    double product = 0;
    double square_a = 0;
    double square_b = 0;
    for (std::size_t i = 0; i < a.size(); ++i) {
        product += (a[i] - mean) * (b[i] - mean);
        square_a += (a[i] - mean) * (a[i] - mean);
        square_b += (b[i] - mean) * (b[i] - mean);
    }
    if (square_a == 0 || square_b == 0) {
        return undefined;
    }
    return product / std::sqrt(square_a * square_b);
}

} // namespace corymb::bench

// SPDX-License-Identifier: Apache-2.0
#include "base/nearest_name.hpp"

#include <algorithm>
#include <cstddef>
#include <numeric>

namespace corymb {

namespace {

std::size_t edit_distance(std::string_view a, std::string_view b) {
    std::vector<std::size_t> row(b.size() + 1);
    std::iota(row.begin(), row.end(), std::size_t{0});
    for (std::size_t i = 0; i < a.size(); ++i) {
        std::size_t diagonal = row[0];
        row[0] = i + 1;
        for (std::size_t j = 0; j < b.size(); ++j) {
            const std::size_t replaced = diagonal + (a[i] == b[j] ? 0 : 1);
            diagonal = row[j + 1];
            row[j + 1] = std::min({replaced, row[j] + 1, row[j + 1] + 1});
        }
    }
    return row[b.size()];
}

} // namespace

std::string nearest_name(std::string_view name, const std::vector<std::string>& names) {
    // Longer input is no typing error, and would make the table large.
    constexpr std::size_t longest = 200;
    if (name.size() > longest) {
        return "";
    }
    std::string best;
    std::size_t best_distance = 0;
    for (const std::string& candidate : names) {
        const std::size_t distance = edit_distance(name, candidate);
        if (2 * distance <= std::max(name.size(), candidate.size()) &&
            (best.empty() || distance < best_distance)) {
            best = candidate;
            best_distance = distance;
        }
    }
    return best;
}

} // namespace corymb

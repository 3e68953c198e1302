// SPDX-License-Identifier: Apache-2.0
#include "plan/search/edge_table.hpp"

#include <algorithm>

namespace corymb {

EdgeTable::EdgeTable(const TreeCosts& costs)
    : size_(costs.size()), rows_(costs.view().row_count()) {
    const CostView& view = costs.view();
    const auto rows = static_cast<std::size_t>(rows_);
    std::vector<Rank> first(rows, -1);
    std::vector<Rank> last(rows, -1);
    for (Rank rank = 0; rank < size_; ++rank) {
        const auto row = static_cast<std::size_t>(view.row(rank));
        row_.push_back(view.row(rank));
        first[row] = first[row] < 0 ? rank : first[row];
        last[row] = rank;
    }
    const auto exists = [&](std::size_t from, std::size_t to) {
        return first[from] >= 0 && last[to] >= 0 && first[from] != last[to];
    };
    double dearest = 0;
    for (std::size_t i = 0; i < rows * rows; ++i) {
        const std::size_t from = i / rows;
        const std::size_t to = i % rows;
        if (exists(from, to)) {
            dearest = std::max(dearest, costs.busy(first[from], last[to]) +
                                            costs.latency(first[from], last[to]));
        }
    }
    // No tree lasts longer than one dearest message a rank; leave one bit for sums of two.
    constexpr double ticks_max = 1073741824.0; // 2^30
    const double longest = dearest * static_cast<double>(size_);
    while (longest > 0 && longest * ticks_per_unit_ > ticks_max) {
        ticks_per_unit_ /= 2;
    }
    while (longest > 0 && longest * ticks_per_unit_ * 2 <= ticks_max) {
        ticks_per_unit_ *= 2;
    }
    const auto ticks = [&](double cost) {
        return static_cast<std::int32_t>(cost * ticks_per_unit_);
    };
    edges_.resize(rows * rows);
    for (std::size_t i = 0; i < rows * rows; ++i) {
        const std::size_t from = i / rows;
        const std::size_t to = i % rows;
        if (exists(from, to)) {
            edges_[i] = {ticks(costs.busy(first[from], last[to])),
                         ticks(costs.latency(first[from], last[to]))};
        }
    }
}

} // namespace corymb

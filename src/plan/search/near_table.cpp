// SPDX-License-Identifier: Apache-2.0
#include "plan/search/near_table.hpp"

#include "plan/tuning.hpp"

#include <algorithm>
#include <iterator>
#include <numeric>
#include <utility>

namespace corymb {

NearTable::NearTable(const EdgeTable& edges, Want want) : edges_(edges) {
    const auto rows = static_cast<std::size_t>(edges.row_count());
    begin_.assign(rows + 1, 0);
    for (Rank rank = 0; rank < edges.size(); ++rank) {
        ++begin_[static_cast<std::size_t>(edges.row(rank)) + 1];
    }
    std::partial_sum(begin_.begin(), begin_.end(), begin_.begin());
    members_.resize(static_cast<std::size_t>(edges.size()));
    std::vector<std::uint32_t> next(begin_.begin(), begin_.end() - 1);
    for (Rank rank = 0; rank < edges.size(); ++rank) {
        members_[next[static_cast<std::size_t>(edges.row(rank))]++] = rank;
    }
    const auto members = [&](std::size_t row) {
        return begin_[row + 1] - begin_[row];
    };
    const bool dense = rows == members_.size();
    const std::size_t others = dense ? rows - 1 : rows;
    width_ = tuning::near_ranks.decides(others > tuning::near_ranks) ? tuning::near_ranks.value()
                                                                     : others;
    std::vector<std::pair<std::int64_t, std::int32_t>> order(rows);
    for (std::size_t row = 0; row < rows; ++row) {
        for (std::size_t other = 0; other < rows; ++other) {
            const bool usable = members(other) > (other == row ? 1U : 0U) && members(row) > 0;
            std::int64_t cost = std::int64_t{1} << 40;
            if (usable) {
                const EdgeTicks& edge =
                    want == Want::parents ? edges.of_rows(other, row) : edges.of_rows(row, other);
                cost = std::int64_t{edge.busy} + edge.latency;
            }
            order[other] = {cost, static_cast<std::int32_t>(other)};
        }
        const auto end = order.begin() + static_cast<std::ptrdiff_t>(width_);
        std::partial_sort(order.begin(), end, order.end());
        std::transform(order.begin(), end, std::back_inserter(near_),
                       [](const auto& entry) { return entry.second; });
    }
}

} // namespace corymb

// SPDX-License-Identifier: Apache-2.0
// Tree edge costs as integers, laid out for the inner loop of annealing.
#pragma once

#include "plan/cost_view.hpp"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace corymb {

/// Costs of one tree edge in ticks, see `EdgeTable`.
struct EdgeTicks {
    std::int32_t busy = 0;
    std::int32_t latency = 0;
};

/// Fixed-point copy of the costs of one flow. A tick is a power of two of the model's unit. It is
/// so small that rounding does not matter (at least 2^13 ticks in the dearest message), and so
/// large that no tree over the group can overflow. Integers make the search equal on every
/// platform: no fused multiply-add, no library function can change a comparison.
class EdgeTable {
public:
    explicit EdgeTable(const TreeCosts& costs);

    [[nodiscard]] Rank size() const noexcept { return size_; }
    [[nodiscard]] std::int32_t row_count() const noexcept { return rows_; }
    [[nodiscard]] std::int32_t row(Rank rank) const noexcept {
        return row_[static_cast<std::size_t>(rank)];
    }
    [[nodiscard]] const EdgeTicks& of_rows(std::size_t parent, std::size_t child) const noexcept {
        return edges_[parent * static_cast<std::size_t>(rows_) + child];
    }
    [[nodiscard]] const EdgeTicks& operator()(Rank parent, Rank child) const noexcept {
        return of_rows(static_cast<std::size_t>(row(parent)), static_cast<std::size_t>(row(child)));
    }
    [[nodiscard]] double ticks_per_unit() const noexcept { return ticks_per_unit_; }

private:
    Rank size_ = 0;
    std::int32_t rows_ = 0;
    double ticks_per_unit_ = 1;
    std::vector<std::int32_t> row_;
    std::vector<EdgeTicks> edges_;
};

} // namespace corymb

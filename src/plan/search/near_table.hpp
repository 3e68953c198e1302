// SPDX-License-Identifier: Apache-2.0
// For every rank, the ranks that exchange messages with it most cheaply.
#pragma once

#include "plan/search/edge_table.hpp"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace corymb {

/// Draws near partners in O(1). Works on cost rows, so that its memory is O(rows), not O(ranks^2).
class NearTable {
public:
    enum class Want : std::uint8_t { parents, children };

    NearTable(const EdgeTable& edges, Want want);

    /// A near parent (or child) of `rank`, uniform over the nearest rows and within the row. It may
    /// be `rank` itself when its row is among them.
    [[nodiscard]] Rank draw(Rank rank, std::uint32_t random, std::uint32_t random_member) const {
        const auto row = static_cast<std::size_t>(edges_.row(rank));
        const auto near = static_cast<std::size_t>(near_[row * width_ + scale(random, width_)]);
        const std::uint32_t begin = begin_[near];
        return members_[begin + scale(random_member, begin_[near + 1] - begin)];
    }

    /// Maps 32 random bits to [0, bound).
    static std::uint32_t scale(std::uint32_t random, std::uint64_t bound) {
        return static_cast<std::uint32_t>((random * bound) >> 32);
    }

private:
    const EdgeTable& edges_;
    std::size_t width_;
    std::vector<std::int32_t> near_;   ///< width_ rows for each row.
    std::vector<std::uint32_t> begin_; ///< Begin of a row's ranks in members_.
    std::vector<Rank> members_;
};

} // namespace corymb

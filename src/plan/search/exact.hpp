// SPDX-License-Identifier: Apache-2.0
// Optimal trees for small groups.
#pragma once

#include "plan/cost_view.hpp"
#include "plan/search/edge_table.hpp"
#include "plan/search/tree.hpp"

#include <cstdint>
#include <vector>

namespace corymb {

/// Dynamic programming over subsets: served(v, S) is the least time in which v, free now, can serve
/// the set S; v's first child c takes a share A of S and passes the message on to it:
///
///     served(v, S) = min over c, A of
///         busy(v, c) + max(latency(v, c) + served(c, A), served(v, S - A - c))
///
/// Every schedule of point-to-point messages contains such a tree, so the value is a lower bound
/// for all of them. O(3^n n) time (about 0.1 s for 14 ranks) and O(2^n n) memory. Exact up to the
/// rounding of `EdgeTable`.
class ExactTrees {
public:
    static constexpr Rank ranks_max = 14;

    /// With a root, only trees from that root are computed; without one, trees from every rank.
    /// Throws Errc::invalid_argument above `ranks_max` ranks.
    ExactTrees(const TreeCosts& costs, Rank root);

    /// Least makespan from `root` in the unit of the costs.
    [[nodiscard]] double cost(Rank root) const;
    [[nodiscard]] Tree tree(Rank root) const;

private:
    using Set = std::uint32_t;
    struct Choice {
        std::int32_t cost;
        Rank child;
        Set share;
    };

    [[nodiscard]] std::int32_t& served(Rank rank, Set set) {
        return served_[(static_cast<std::size_t>(set) * static_cast<std::size_t>(size_)) +
                       static_cast<std::size_t>(rank)];
    }
    [[nodiscard]] std::int32_t served(Rank rank, Set set) const {
        return served_[(static_cast<std::size_t>(set) * static_cast<std::size_t>(size_)) +
                       static_cast<std::size_t>(rank)];
    }
    [[nodiscard]] Set everybody_but(Rank rank) const {
        return ((Set{1} << size_) - 1) & ~(Set{1} << rank);
    }
    [[nodiscard]] Choice best_choice(Rank rank, Set set) const;

    Rank size_;
    EdgeTable edges_;
    std::vector<std::int32_t> served_;
};

} // namespace corymb

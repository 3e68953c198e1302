// SPDX-License-Identifier: Apache-2.0
// How a call spreads over the ranks of a group. Ranks stand in the preorder of a tree, so that the
// subtree of a position is the range [position, end[position]).
#pragma once

#include "multicast/gather_tree.hpp"

#include <corymb/plan.hpp>

#include <cstdint>
#include <vector>

namespace corymb::multicast {

struct Shape {
    std::uint32_t size = 1;         ///< Positions.
    std::uint32_t slots = 1;        ///< Calls in flight; at most 64.
    std::uint32_t fan_out = 0;      ///< Parts of a range; 0: the static tree of `end`.
    bool skipping = true;           ///< Jump to the next member instead of testing each position.
    std::vector<std::uint32_t> end; ///< end[p]: behind the subtree of p; empty with a fan-out.
    /// With a fan-out, up to so many members are not cut into parts.
    std::uint32_t flat_up_to = 0;
    bool by_messages = false; ///< Acknowledgements.
    GatherTree gather;        ///< Acknowledgements go up this tree; empty: back as they came.
};

/// The preorder of a tree of ranks.
struct Preorder {
    std::vector<std::uint32_t> position_of; ///< By rank.
    std::vector<Rank> rank_at;              ///< By position.
    std::vector<std::uint32_t> end;         ///< By position.
};

/// Every rank a child of the initiator.
[[nodiscard]] Preorder flat_order(Rank size);
/// Rank r has the children 2r + 1 and 2r + 2.
[[nodiscard]] Preorder binary_order(Rank size);
/// The tree of a broadcast, children in the order of its sends. Throws Errc::invalid_argument for
/// another operation or a broadcast in which a rank takes from several others.
[[nodiscard]] Preorder plan_order(const Plan& plan);
/// The rank to which each rank of a reduce gives its data; the root is its own. Throws
/// Errc::invalid_argument for another operation or a reduce in which a rank gives to several
/// others, or to none.
[[nodiscard]] std::vector<Rank> gather_parents(const Plan& plan);
/// `parents` is by rank.
[[nodiscard]] GatherTree gather_tree(const Preorder& order, const std::vector<Rank>& parents);

} // namespace corymb::multicast

// SPDX-License-Identifier: Apache-2.0
// A tree of counters up which acknowledgements go, and which need not be the tree that a call goes
// down (gather nodes of Kuban, Rotta, Nolte, 2017). The counters are of no thread: the ranks at
// which they stand may be members or not.
#pragma once

#include "multicast/snapshot.hpp"

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace corymb::multicast {

/// Which counter each position answers at, and how many answers a counter awaits for given members.
/// All of it follows from the members that a call names, so nobody has to tell anybody.
///
/// A node stands for a position that has children. Node 0 is the root's, and parents come before
/// their children. Immutable.
class GatherTree {
public:
    /// No tree.
    GatherTree() = default;
    /// `parent[p]` is the position above p; the root is its own. O(size * depth). Throws
    /// Errc::invalid_argument unless that is a tree, or when it is too deep for so many positions.
    explicit GatherTree(std::span<const Position> parent);

    [[nodiscard]] bool empty() const noexcept { return nodes_.empty(); }
    [[nodiscard]] std::uint32_t size() const noexcept {
        return static_cast<std::uint32_t>(nodes_.size());
    }
    /// The node at which a position answers.
    [[nodiscard]] std::uint32_t place_of(Position p) const noexcept { return place_of_[p]; }
    /// The position above one; the root is its own.
    [[nodiscard]] Position parent_of(Position p) const noexcept {
        const Node& of = nodes_[place_of_[p]];
        return of.position == p ? nodes_[of.parent].position : of.position;
    }
    /// The node above one that is not the root.
    [[nodiscard]] std::uint32_t above(std::uint32_t node) const noexcept {
        return nodes_[node].parent;
    }
    /// The position of a node, and the first one below it, which is the same if there is none.
    [[nodiscard]] Position position_of(std::uint32_t node) const noexcept {
        return nodes_[node].position;
    }
    [[nodiscard]] Position first_below(std::uint32_t node) const noexcept {
        return nodes_[node].first_below;
    }

    /// How many answers come to a node: one of each member that answers there, and one of each node
    /// right below it with a member in its subtree.
    template <class Word>
    [[nodiscard]] std::uint32_t expected(std::uint32_t node, Snapshot<Word> named) const noexcept {
        const Node& of = nodes_[node];
        std::uint32_t count = named.count(slice(of.direct));
        for (std::uint32_t below = of.below.begin; below < of.below.end; ++below) {
            count += named.meets(slice(nodes_[below].subtree)) ? 1U : 0U;
        }
        return count;
    }

private:
    struct Range {
        std::uint32_t begin = 0;
        std::uint32_t end = 0;
    };
    struct Node {
        Position position = 0;
        Position first_below = 0;
        std::uint32_t parent = 0;
        Range below;   ///< Nodes whose parent this is.
        Range direct;  ///< Parts: the positions that answer here.
        Range subtree; ///< Parts: the positions of the subtree.
    };

    [[nodiscard]] std::span<const Part> slice(const Range& range) const noexcept {
        return {parts_.data() + range.begin, range.end - range.begin};
    }
    void find_nodes(std::span<const Position> parent);
    void find_members();

    std::vector<Node> nodes_;
    std::vector<std::uint32_t> place_of_; ///< By position.
    std::vector<Part> parts_;
};

} // namespace corymb::multicast

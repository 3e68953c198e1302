// SPDX-License-Identifier: Apache-2.0
// The tree that annealing changes: best child order at all times, incremental costs, undo.
#pragma once

#include "plan/search/edge_table.hpp"
#include "plan/search/tree.hpp"

#include <cstdint>
#include <vector>

namespace corymb {

/// A tree whose children are always in the best order and whose subtree costs are always right.
///
/// A change recomputes one child list, then climbs towards the root and stops where a cost stays as
/// it was. Every rank's entry is saved before its first change since `begin`, so that a refused
/// move is taken back by copying, without recomputing.
class AnnealState {
public:
    AnnealState(const EdgeTable& edges, const Tree& tree);

    [[nodiscard]] Rank root() const noexcept { return root_; }
    [[nodiscard]] Rank size() const noexcept { return static_cast<Rank>(nodes_.size()); }
    [[nodiscard]] std::int32_t cost() const noexcept { return node(root_).cost; }
    [[nodiscard]] std::int32_t cost(Rank rank) const noexcept { return node(rank).cost; }
    [[nodiscard]] Rank parent(Rank rank) const noexcept { return node(rank).parent; }
    [[nodiscard]] bool is_within(Rank rank, Rank subtree) const noexcept;

    /// Starts a move: what follows can be undone up to here.
    void begin() noexcept;
    void undo() noexcept;
    /// Cuts the subtree of `child` off and hangs it under `parent`, which must not be inside it.
    void reattach(Rank child, Rank parent) noexcept;
    /// Two ranks change places in the tree. If one is the root, the other becomes it.
    void swap_ranks(Rank a, Rank b) noexcept;

    /// Appends the ranks that decide the makespan (without the root) and the siblings served before
    /// them; each is worth moving, no other rank is.
    void critical(std::vector<Rank>& ranks) const;

    /// Overwrites `parents` with the parent of every rank, -1 for the root.
    void parents(std::vector<Rank>& parents) const;

private:
    /// 32 bytes: two ranks share a cache line.
    struct Node {
        Rank parent = -1, first = -1, next = -1, previous = -1;
        std::int32_t busy = 0;    ///< Parent's time for this rank's message.
        std::int32_t latency = 0; ///< From the parent's turn until this rank starts.
        std::int32_t cost = 0;    ///< From this rank's start until its subtree is served.
        std::int32_t tail = 0;    ///< latency + cost: the key that orders siblings, falling.
    };
    struct Saved {
        Rank rank;
        Node node;
    };

    [[nodiscard]] const Node& node(Rank rank) const noexcept {
        return nodes_[static_cast<std::size_t>(rank)];
    }
    /// The entry of a rank for writing: saves the old content once a move.
    Node& change(Rank rank) noexcept;
    void unlink(Rank rank) noexcept;
    /// Puts a detached rank among the children of `parent`, with the costs of that edge.
    void link(Rank rank, Rank parent) noexcept;
    void insert(Rank rank, Rank parent, Rank after) noexcept;
    void reposition(Rank rank) noexcept;
    [[nodiscard]] std::int32_t cost_from_children(Rank rank) const noexcept;
    /// Recomputes the costs of `rank` and its ancestors until one is unchanged.
    void climb(Rank rank) noexcept;
    void take_children(Rank from, std::vector<Rank>& children) noexcept;
    void give_children(Rank to, const std::vector<Rank>& children) noexcept;
    void swap_with_parent(Rank child) noexcept;

    const EdgeTable& edges_;
    Rank root_;
    Rank saved_root_ = 0;
    std::vector<Node> nodes_;
    std::vector<std::uint32_t> stamp_;
    std::uint32_t move_ = 0;
    std::vector<Saved> journal_;
    std::vector<Rank> first_list_, second_list_;
};

} // namespace corymb

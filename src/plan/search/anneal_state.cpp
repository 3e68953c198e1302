// SPDX-License-Identifier: Apache-2.0
#include "plan/search/anneal_state.hpp"

#include <algorithm>

namespace corymb {

namespace {
std::size_t at(Rank rank) {
    return static_cast<std::size_t>(rank);
}
} // namespace

AnnealState::AnnealState(const EdgeTable& edges, const Tree& tree)
    : edges_(edges), root_(tree.root), nodes_(tree.parent.size()), stamp_(tree.parent.size(), 0) {
    journal_.reserve(nodes_.size());
    first_list_.reserve(nodes_.size());
    second_list_.reserve(nodes_.size());
    const std::vector<Rank> order = breadth_first(tree);
    begin();
    for (std::size_t i = order.size(); i-- > 0;) {
        const Rank rank = order[i];
        nodes_[at(rank)].cost = cost_from_children(rank);
        if (rank != tree.root) {
            link(rank, tree.parent[at(rank)]);
        }
    }
}

bool AnnealState::is_within(Rank rank, Rank subtree) const noexcept {
    while (rank >= 0 && rank != subtree) {
        rank = node(rank).parent;
    }
    return rank == subtree;
}

void AnnealState::begin() noexcept {
    journal_.clear();
    saved_root_ = root_;
    if (++move_ == 0) { // After 2^32 moves: forget all stamps.
        std::ranges::fill(stamp_, 0);
        move_ = 1;
    }
}

void AnnealState::undo() noexcept {
    for (const Saved& saved : journal_) {
        nodes_[at(saved.rank)] = saved.node;
    }
    root_ = saved_root_;
    begin();
}

AnnealState::Node& AnnealState::change(Rank rank) noexcept {
    Node& entry = nodes_[at(rank)];
    if (stamp_[at(rank)] != move_) {
        stamp_[at(rank)] = move_;
        journal_.push_back({rank, entry});
    }
    return entry;
}

void AnnealState::unlink(Rank rank) noexcept {
    const Node& entry = node(rank);
    if (entry.previous >= 0) {
        change(entry.previous).next = entry.next;
    } else {
        change(entry.parent).first = entry.next;
    }
    if (entry.next >= 0) {
        change(entry.next).previous = entry.previous;
    }
}

void AnnealState::link(Rank rank, Rank parent) noexcept {
    Node& entry = change(rank);
    const EdgeTicks& edge = edges_(parent, rank);
    entry.parent = parent;
    entry.busy = edge.busy;
    entry.latency = edge.latency;
    entry.tail = edge.latency + entry.cost;
    insert(rank, parent, -1);
}

/// Searches from behind `after` (-1: from the front) for the place of the rank's tail.
void AnnealState::insert(Rank rank, Rank parent, Rank after) noexcept {
    Node& entry = change(rank);
    Rank previous = after;
    Rank next = after < 0 ? node(parent).first : node(after).next;
    while (next >= 0 && node(next).tail > entry.tail) {
        previous = next;
        next = node(next).next;
    }
    entry.previous = previous;
    entry.next = next;
    if (previous >= 0) {
        change(previous).next = rank;
    } else {
        change(parent).first = rank;
    }
    if (next >= 0) {
        change(next).previous = rank;
    }
}

void AnnealState::reposition(Rank rank) noexcept {
    const Node& entry = node(rank);
    const bool early = entry.next >= 0 && node(entry.next).tail > entry.tail;
    const bool late = entry.previous >= 0 && node(entry.previous).tail < entry.tail;
    if (early || late) {
        const Rank after = early ? entry.next : -1;
        unlink(rank);
        insert(rank, entry.parent, after);
    }
}

std::int32_t AnnealState::cost_from_children(Rank rank) const noexcept {
    std::int32_t clock = 0;
    std::int32_t cost = 0;
    for (Rank child = node(rank).first; child >= 0; child = node(child).next) {
        clock += node(child).busy;
        cost = std::max(cost, clock + node(child).tail);
    }
    return cost;
}

void AnnealState::climb(Rank rank) noexcept {
    while (rank >= 0) {
        const std::int32_t cost = cost_from_children(rank);
        if (cost == node(rank).cost) {
            return;
        }
        Node& entry = change(rank);
        entry.cost = cost;
        entry.tail = entry.latency + cost;
        if (entry.parent >= 0) {
            reposition(rank);
        }
        rank = entry.parent;
    }
}

void AnnealState::reattach(Rank child, Rank parent) noexcept {
    const Rank old_parent = node(child).parent;
    unlink(child);
    climb(old_parent);
    link(child, parent);
    climb(parent);
}

void AnnealState::take_children(Rank from, std::vector<Rank>& children) noexcept {
    children.clear();
    for (Rank child = node(from).first; child >= 0; child = node(child).next) {
        children.push_back(child);
    }
    change(from).first = -1;
}

void AnnealState::give_children(Rank to, const std::vector<Rank>& children) noexcept {
    for (const Rank child : children) {
        link(child, to);
    }
}

void AnnealState::swap_with_parent(Rank child) noexcept {
    const Rank parent = node(child).parent;
    const Rank above = node(parent).parent;
    unlink(child);
    if (above >= 0) {
        unlink(parent);
    }
    take_children(parent, first_list_);
    take_children(child, second_list_);
    give_children(parent, second_list_);
    change(parent).cost = cost_from_children(parent);
    give_children(child, first_list_);
    link(parent, child);
    change(child).cost = cost_from_children(child);
    if (above >= 0) {
        link(child, above);
        climb(above);
    } else {
        Node& entry = change(child);
        entry.parent = -1;
        entry.next = entry.previous = -1;
        root_ = child;
    }
}

void AnnealState::swap_ranks(Rank a, Rank b) noexcept {
    if (node(a).parent == b) {
        swap_with_parent(a);
        return;
    }
    if (node(b).parent == a) {
        swap_with_parent(b);
        return;
    }
    const Rank above_a = node(a).parent;
    const Rank above_b = node(b).parent;
    if (above_a >= 0) {
        unlink(a);
    }
    if (above_b >= 0) {
        unlink(b);
    }
    take_children(a, first_list_);
    take_children(b, second_list_);
    give_children(a, second_list_);
    give_children(b, first_list_);
    const auto place = [this](Rank rank, Rank above) {
        change(rank).cost = cost_from_children(rank);
        if (above >= 0) {
            link(rank, above);
        } else {
            Node& entry = change(rank);
            entry.parent = entry.next = entry.previous = -1;
            root_ = rank;
        }
    };
    place(a, above_b);
    place(b, above_a);
    // Whichever is below the other, two climbs suffice: every other entry agrees with what is
    // stored below it, and a change spreads upwards by itself.
    climb(node(a).parent >= 0 ? node(a).parent : a);
    climb(node(b).parent >= 0 ? node(b).parent : b);
}

void AnnealState::critical(std::vector<Rank>& ranks) const {
    for (Rank rank = root_; node(rank).first >= 0;) {
        std::int32_t clock = 0;
        Rank child = node(rank).first;
        for (;; child = node(child).next) {
            clock += node(child).busy;
            ranks.push_back(child);
            if (clock + node(child).tail == node(rank).cost) {
                break;
            }
        }
        rank = child;
    }
}

void AnnealState::parents(std::vector<Rank>& parents) const {
    parents.clear();
    for (const Node& entry : nodes_) {
        parents.push_back(entry.parent);
    }
}

} // namespace corymb

// SPDX-License-Identifier: Apache-2.0
#include "plan/search/tree.hpp"

#include <corymb/error.hpp>

#include <algorithm>
#include <iterator>
#include <string>
#include <utility>

namespace corymb {

namespace {

std::size_t at(Rank rank) {
    return static_cast<std::size_t>(rank);
}

/// First and last rank of every subtree; throws when a subtree has a hole.
std::vector<std::pair<Rank, Rank>> subtree_ranges(const Tree& tree,
                                                  const std::vector<Rank>& order) {
    std::vector<std::pair<Rank, Rank>> range(order.size());
    std::vector<Rank> count(order.size(), 1);
    for (const Rank rank : order) {
        range[at(rank)] = {rank, rank};
    }
    for (std::size_t i = order.size(); i-- > 0;) {
        const Rank rank = order[i];
        for (const Rank child : tree.children_of(rank)) {
            range[at(rank)].first = std::min(range[at(rank)].first, range[at(child)].first);
            range[at(rank)].second = std::max(range[at(rank)].second, range[at(child)].second);
            count[at(rank)] += count[at(child)];
        }
        if (range[at(rank)].second - range[at(rank)].first + 1 != count[at(rank)]) {
            throw Error(Errc::invalid_argument,
                        "the subtree of rank " + std::to_string(rank) +
                            " is not contiguous, so it cannot combine in rank order");
        }
    }
    return range;
}

struct Arrival {
    double time;
    Rank child;
};

/// Merges the left and the right children, nearest first on each side, by arrival.
void merge_in_rank_order(Rank rank, std::vector<Arrival>& arrivals) {
    std::vector<Arrival> left;
    std::vector<Arrival> right;
    for (const Arrival& arrival : arrivals) {
        (arrival.child < rank ? left : right).push_back(arrival);
    }
    std::ranges::sort(left, std::ranges::greater{}, &Arrival::child);
    std::ranges::sort(right, std::ranges::less{}, &Arrival::child);
    std::size_t l = 0;
    std::size_t r = 0;
    for (Arrival& slot : arrivals) {
        const bool take_left =
            r == right.size() || (l < left.size() && left[l].time <= right[r].time);
        slot = take_left ? left[l++] : right[r++];
    }
}

} // namespace

Tree make_tree(Rank size, Rank root) {
    if (size < 1 || root < 0 || root >= size) {
        throw Error(Errc::invalid_argument, "root " + std::to_string(root) + " is not one of " +
                                                std::to_string(size) + " ranks");
    }
    return Tree{root, std::vector<Rank>(at(size), -1), std::vector<std::vector<Rank>>(at(size))};
}

void attach(Tree& tree, Rank parent, Rank child) {
    tree.parent[at(child)] = parent;
    tree.children[at(parent)].push_back(child);
}

Tree tree_from_parents(std::span<const Rank> parent) {
    const auto root = std::ranges::find(parent, Rank{-1});
    Tree tree = make_tree(static_cast<Rank>(parent.size()),
                          static_cast<Rank>(std::distance(parent.begin(), root)));
    for (Rank rank = 0; rank < tree.size(); ++rank) {
        if (rank != tree.root) {
            attach(tree, parent[at(rank)], rank);
        }
    }
    return tree;
}

std::vector<Rank> breadth_first(const Tree& tree) {
    std::vector<Rank> order{tree.root};
    order.reserve(tree.parent.size());
    for (std::size_t i = 0; i < order.size() && order.size() <= tree.parent.size(); ++i) {
        const auto& children = tree.children_of(order[i]);
        std::ranges::copy(children, std::back_inserter(order));
    }
    // A rank that is listed twice makes the list too long or leaves another rank out.
    std::vector<bool> seen(tree.parent.size(), false);
    for (const Rank rank : order) {
        seen[at(rank)] = true;
    }
    if (order.size() != tree.parent.size() || std::ranges::find(seen, false) != seen.end()) {
        throw Error(Errc::invalid_argument, "the tree does not reach every rank exactly once");
    }
    return order;
}

std::vector<double> subtree_costs(const Tree& tree, const TreeCosts& costs) {
    const std::vector<Rank> order = breadth_first(tree);
    std::vector<double> cost(order.size(), 0.0);
    for (std::size_t i = order.size(); i-- > 0;) {
        const Rank rank = order[i];
        double clock = 0;
        for (const Rank child : tree.children_of(rank)) {
            clock += costs.busy(rank, child);
            cost[at(rank)] =
                std::max(cost[at(rank)], clock + costs.latency(rank, child) + cost[at(child)]);
        }
    }
    return cost;
}

double makespan(const Tree& tree, const TreeCosts& costs) {
    return subtree_costs(tree, costs)[at(tree.root)];
}

void order_children(Tree& tree, const TreeCosts& costs) {
    const std::vector<Rank> order = breadth_first(tree);
    std::vector<double> cost(order.size(), 0.0);
    for (std::size_t i = order.size(); i-- > 0;) {
        const Rank rank = order[i];
        auto& children = tree.children[at(rank)];
        const auto tail = [&](Rank child) {
            return costs.latency(rank, child) + cost[at(child)];
        };
        std::ranges::stable_sort(children, std::ranges::greater{}, tail);
        double clock = 0;
        for (const Rank child : children) {
            clock += costs.busy(rank, child);
            cost[at(rank)] = std::max(cost[at(rank)], clock + tail(child));
        }
    }
}

FoldOrder fold_order(const Tree& tree, const CostView& costs, bool ordered) {
    const std::vector<Rank> order = breadth_first(tree);
    if (ordered) {
        subtree_ranges(tree, order);
    }
    FoldOrder result{tree.children, 0};
    std::vector<double> done(order.size(), 0.0);
    std::vector<Arrival> arrivals;
    for (std::size_t i = order.size(); i-- > 0;) {
        const Rank rank = order[i];
        arrivals.clear();
        for (const Rank child : tree.children_of(rank)) {
            arrivals.push_back({done[at(child)] + costs.send(child, rank), child});
        }
        if (ordered) {
            merge_in_rank_order(rank, arrivals);
        } else {
            std::ranges::stable_sort(arrivals, std::ranges::less{}, &Arrival::time);
        }
        double clock = 0;
        auto& children = result.children[at(rank)];
        children.clear();
        for (const Arrival& arrival : arrivals) {
            clock = std::max(clock, arrival.time) + costs.receive(arrival.child, rank);
            children.push_back(arrival.child);
        }
        done[at(rank)] = clock;
    }
    result.makespan = done[at(tree.root)];
    return result;
}

} // namespace corymb

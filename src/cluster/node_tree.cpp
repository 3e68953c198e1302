// SPDX-License-Identifier: Apache-2.0
#include "cluster/node_tree.hpp"

#include <algorithm>
#include <bit>

namespace corymb::cluster {

namespace {

/// The neighbours of a place in a binomial tree of `size`. Below a place are the places up to the
/// next one that is as high.
struct Branch {
    std::size_t parent;
    std::size_t end;
    std::vector<std::size_t> children; // The highest first.
};

Branch branch_at(std::size_t place, std::size_t size) {
    const std::size_t height = place == 0 ? std::bit_ceil(size) : place & -place;
    Branch branch{place - (place == 0 ? 0 : height), std::min(place + height, size), {}};
    for (std::size_t reach = height / 2; reach > 0; reach /= 2) {
        if (place + reach < size) {
            branch.children.push_back(place + reach);
        }
    }
    return branch;
}

} // namespace

NodeTree::NodeTree(const std::vector<int>& node_of_rank, Rank rank) {
    const int own = node_of_rank[static_cast<std::size_t>(rank)];
    std::vector<Rank> firsts;  // First ranks of the nodes, by place.
    std::vector<Rank> members; // Ranks of the own node.
    std::vector<bool> is_known(node_of_rank.size(), false);
    for (std::size_t other = 0; other < node_of_rank.size(); ++other) {
        const int node = node_of_rank[other];
        if (!is_known[static_cast<std::size_t>(node)]) {
            is_known[static_cast<std::size_t>(node)] = true;
            order.push_back(node);
            firsts.push_back(static_cast<Rank>(other));
        }
        if (node == own) {
            members.push_back(static_cast<Rank>(other));
        }
    }
    const auto place = static_cast<std::size_t>(std::ranges::find(order, own) - order.begin());
    nodes = {place, place + 1};
    if (members.front() == rank) {
        const Branch among_nodes = branch_at(place, order.size());
        parent = place == 0 ? -1 : firsts[among_nodes.parent];
        nodes.end = among_nodes.end;
        for (const std::size_t child : among_nodes.children) {
            children.push_back({firsts[child], {child, branch_at(child, order.size()).end}});
        }
    }
    const auto member =
        static_cast<std::size_t>(std::ranges::find(members, rank) - members.begin());
    const Branch within = branch_at(member, members.size());
    if (member != 0) {
        parent = members[within.parent];
    }
    for (const std::size_t child : within.children) {
        children.push_back({members[child], {place, place + 1}});
    }
}

} // namespace corymb::cluster

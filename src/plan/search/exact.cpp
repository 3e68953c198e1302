// SPDX-License-Identifier: Apache-2.0
#include "plan/search/exact.hpp"

#include <corymb/error.hpp>

#include <algorithm>
#include <bit>
#include <limits>
#include <string>

namespace corymb {

ExactTrees::ExactTrees(const TreeCosts& costs, Rank root) : size_(costs.size()), edges_(costs) {
    if (size_ > ranks_max) {
        throw Error(Errc::invalid_argument, "exact search takes at most " +
                                                std::to_string(ranks_max) + " ranks, not " +
                                                std::to_string(size_));
    }
    const Set all = (Set{1} << size_) - 1;
    served_.assign((static_cast<std::size_t>(all) + 1) * static_cast<std::size_t>(size_), 0);
    const Set root_bit = root < 0 ? 0 : Set{1} << root;
    // A set is larger than its subsets, so increasing order meets them first.
    for (Set set = 1; set <= all; ++set) {
        if ((set & root_bit) != 0) {
            continue;
        }
        for (Rank rank = 0; rank < size_; ++rank) {
            if ((set >> rank & 1) == 0) {
                served(rank, set) = best_choice(rank, set).cost;
            }
        }
    }
}

ExactTrees::Choice ExactTrees::best_choice(Rank rank, Set set) const {
    Choice best{std::numeric_limits<std::int32_t>::max(), -1, 0};
    // `part` holds the first child and its subtree.
    for (Set part = set; part != 0; part = (part - 1) & set) {
        const std::int32_t rest = served(rank, set & ~part);
        if (rest >= best.cost) {
            continue;
        }
        for (Set left = part; left != 0; left &= left - 1) {
            const Rank child = std::countr_zero(left);
            const EdgeTicks& edge = edges_(rank, child);
            const Set share = part & ~(Set{1} << child);
            const std::int32_t cost =
                edge.busy + std::max(edge.latency + served(child, share), rest);
            if (cost < best.cost) {
                best = {cost, child, share};
            }
        }
    }
    return best;
}

double ExactTrees::cost(Rank root) const {
    return static_cast<double>(served(root, everybody_but(root))) / edges_.ticks_per_unit();
}

Tree ExactTrees::tree(Rank root) const {
    Tree tree = make_tree(size_, root);
    struct Task {
        Rank rank;
        Set set;
    };
    std::vector<Task> tasks{{root, everybody_but(root)}};
    while (!tasks.empty()) {
        const auto [rank, set] = tasks.back();
        tasks.pop_back();
        if (set == 0) {
            continue;
        }
        const Choice choice = best_choice(rank, set);
        attach(tree, rank, choice.child);
        tasks.push_back({choice.child, choice.share});
        tasks.push_back({rank, set & ~choice.share & ~(Set{1} << choice.child)});
    }
    return tree;
}

} // namespace corymb

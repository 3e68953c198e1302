// SPDX-License-Identifier: Apache-2.0
#include "plan/generate/hierarchical.hpp"

#include "plan/generate/family_list.hpp"
#include "plan/search/tree_search.hpp"

#include <algorithm>
#include <functional>
#include <map>
#include <queue>
#include <tuple>
#include <utility>
#include <vector>

namespace corymb {

namespace {

struct MeanCosts {
    double busy = 0;
    double latency = 0;
};

MeanCosts mean_costs(const TreeCosts& costs, const std::vector<Rank>& leaders) {
    constexpr std::size_t sample_max = 64;
    const std::size_t count = std::min(leaders.size(), sample_max);
    MeanCosts sum;
    for (std::size_t i = 0; i < count; ++i) {
        for (std::size_t j = 0; j < count; ++j) {
            if (i != j) {
                sum.busy += costs.busy(leaders[i], leaders[j]);
                sum.latency += costs.latency(leaders[i], leaders[j]);
            }
        }
    }
    const auto pairs = static_cast<double>(std::max<std::size_t>(count * (count - 1), 1));
    return {sum.busy / pairs, sum.latency / pairs};
}

void attach_optimal(Tree& tree, const MeanCosts& mean, const std::vector<Rank>& leaders) {
    using Entry = std::tuple<double, std::size_t>; // next message arrives, sender's place
    std::priority_queue<Entry, std::vector<Entry>, std::greater<>> queue;
    queue.emplace(mean.busy + mean.latency, 0);
    for (std::size_t next = 1; next < leaders.size(); ++next) {
        const auto [arrival, sender] = queue.top();
        queue.pop();
        attach(tree, leaders[sender], leaders[next]);
        queue.emplace(arrival + mean.busy, sender);
        queue.emplace(arrival + mean.busy + mean.latency, next);
    }
}

/// `leaders.front()` is attached already and serves the others.
void attach_level(Tree& tree, const TreeCosts& costs, const std::vector<Rank>& leaders,
                  LevelShape shape) {
    switch (shape) {
    case LevelShape::flat:
        for (std::size_t i = 1; i < leaders.size(); ++i) {
            attach(tree, leaders.front(), leaders[i]);
        }
        break;
    case LevelShape::binomial: {
        std::size_t top = 1;
        while (top < leaders.size()) {
            top *= 2;
        }
        for (std::size_t bit = top / 2; bit > 0; bit /= 2) {
            for (std::size_t place = bit; place < leaders.size(); place += 2 * bit) {
                attach(tree, leaders[place - bit], leaders[place]);
            }
        }
        break;
    }
    case LevelShape::optimal: attach_optimal(tree, mean_costs(costs, leaders), leaders); break;
    }
}

/// Cuts `members` by `partition`, keeping their order; the group of the first comes first.
std::vector<std::vector<Rank>> split(const std::vector<Rank>& members, const Partition& partition) {
    std::map<std::int32_t, std::size_t> place;
    std::vector<std::vector<Rank>> groups;
    for (const Rank rank : members) {
        const std::int32_t group = partition[static_cast<std::size_t>(rank)];
        const auto [entry, is_new] = place.try_emplace(group, groups.size());
        if (is_new) {
            groups.emplace_back();
        }
        groups[entry->second].push_back(rank);
    }
    return groups;
}

} // namespace

Tree hierarchical_tree(const TreeCosts& costs, std::span<const Partition> levels, Rank root,
                       LevelShape shape) {
    Tree tree = make_tree(costs.size(), root);
    struct Group {
        std::vector<Rank> members; ///< The leader first.
        std::size_t level;
    };
    std::vector<Rank> everybody{root};
    for (Rank rank = 0; rank < costs.size(); ++rank) {
        if (rank != root) {
            everybody.push_back(rank);
        }
    }
    std::queue<Group> queue;
    queue.push({std::move(everybody), 0});
    while (!queue.empty()) {
        const Group group = std::move(queue.front());
        queue.pop();
        if (group.level == levels.size()) {
            attach_level(tree, costs, group.members, shape);
            continue;
        }
        std::vector<Rank> leaders;
        for (auto& members : split(group.members, levels[group.level])) {
            leaders.push_back(members.front());
            queue.push({std::move(members), group.level + 1});
        }
        attach_level(tree, costs, leaders, shape);
    }
    return tree;
}

namespace generate {

namespace {

TreePair level_trees(const GenerateInput& input, LevelShape shape, Rank root) {
    const std::vector<Partition> levels = group_levels(input);
    TreePair trees{hierarchical_tree(TreeCosts(input.costs, Flow::up), levels, root, shape),
                   hierarchical_tree(TreeCosts(input.costs, Flow::down), levels, root, shape)};
    if (shape == LevelShape::optimal) {
        order_children(trees.down, TreeCosts(input.costs, Flow::down));
    }
    return trees;
}

Plan make(Collective op, const GenerateInput& input, LevelShape shape, std::string_view name) {
    return plan_of_trees(op, level_trees(input, shape, root_or_first(input)), input.costs,
                         transport(input), input.ordered, name);
}

Plan make_flat(Collective op, const GenerateInput& input) {
    return make(op, input, LevelShape::flat, hierarchical_flat.name);
}
Plan make_binomial(Collective op, const GenerateInput& input) {
    return make(op, input, LevelShape::binomial, hierarchical_binomial.name);
}
Plan make_optimal(Collective op, const GenerateInput& input) {
    return make(op, input, LevelShape::optimal, hierarchical.name);
}

} // namespace

constinit const Family hierarchical_flat{"hierarchical-flat", unordered, make_flat};
constinit const Family hierarchical_binomial{"hierarchical-binomial", unordered, make_binomial};
constinit const Family hierarchical{"hierarchical", unordered, make_optimal};

} // namespace generate

} // namespace corymb

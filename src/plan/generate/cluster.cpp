// SPDX-License-Identifier: Apache-2.0
// Smelt's cluster tree: a binary tree over one coordinator a NUMA node, each with a star over its
// node. Coordinators serve other coordinators first.
#include "plan/generate/family_list.hpp"
#include "plan/search/levels.hpp"

#include <algorithm>
#include <vector>

namespace corymb::generate {

namespace {

Plan make(Collective op, const GenerateInput& input) {
    const Rank root = root_or_first(input);
    const std::vector<std::vector<Rank>> nodes = members_of(numa_nodes(input));
    std::vector<Rank> coordinators;
    for (const auto& members : nodes) {
        const bool has_root = std::ranges::find(members, root) != members.end();
        coordinators.push_back(has_root ? root : members.front());
    }
    std::ranges::stable_partition(coordinators, [root](Rank rank) { return rank == root; });
    Tree tree = make_tree(input.costs.size(), root);
    for (std::size_t position = 1; position < coordinators.size(); ++position) {
        attach(tree, coordinators[(position - 1) / 2], coordinators[position]);
    }
    for (const auto& members : nodes) {
        const auto coordinator = std::ranges::find_first_of(members, coordinators);
        for (const Rank rank : members) {
            if (rank != *coordinator) {
                attach(tree, *coordinator, rank);
            }
        }
    }
    return plan_of_tree(op, input, tree, cluster.name);
}

} // namespace

constinit const Family cluster{"cluster", unordered, make};

} // namespace corymb::generate

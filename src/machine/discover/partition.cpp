// SPDX-License-Identifier: Apache-2.0
#include "machine/discover/partition.hpp"

#include "machine/discover/levels.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <set>

namespace corymb::discover {
namespace {

std::size_t at(int index) {
    return static_cast<std::size_t>(index);
}

const Level* find_core_level(const std::vector<Level>& levels) {
    const auto found = std::find_if(levels.begin(), levels.end(),
                                    [](const Level& level) { return level.name == "core"; });
    return found != levels.end() ? &*found : nullptr;
}

/// The finest level whose objects hold several cores each and are not too many.
const Level* find_coarse_level(const std::vector<Level>& levels) {
    const auto found = std::find_if(levels.begin(), levels.end(), [](const Level& level) {
        return level.name != "core" && level.count >= 2 && level.count <= coarse_groups_max;
    });
    return found != levels.end() ? &*found : nullptr;
}

/// One PU a core: siblings are put back later, since their tiny cost would hide the other jumps.
std::vector<int> representatives(int size, const Level* core) {
    std::vector<int> chosen;
    std::set<int> seen;
    for (int pu = 0; pu < size; ++pu) {
        if (core == nullptr || seen.insert(core->object[at(pu)]).second) {
            chosen.push_back(pu);
        }
    }
    return chosen;
}

/// Cuts the tree where it has the most nodes that still are few enough and hold several cores.
std::vector<const ClusterNode*> coarse_nodes(const ClusterNode& root) {
    std::vector<const ClusterNode*> nodes{&root};
    for (std::size_t i = 0; i < nodes.size();) {
        const ClusterNode& node = *nodes[i];
        const bool worth_it = !node.parts.empty() && node.members.size() >= 4 * node.parts.size() &&
                              nodes.size() + node.parts.size() - 1 <= coarse_groups_max;
        if (!worth_it) {
            ++i;
            continue;
        }
        nodes.erase(nodes.begin() + static_cast<std::ptrdiff_t>(i));
        for (const ClusterNode& part : node.parts) {
            nodes.push_back(&part);
        }
        i = 0;
    }
    return nodes;
}

void add_paths(const ClusterNode& node, const std::vector<int>& above, Partition& partition) {
    for (const int member : node.members) {
        partition.path[at(member)] = above;
    }
    for (std::size_t part = 0; part < node.parts.size(); ++part) {
        std::vector<int> path = above;
        path.push_back(static_cast<int>(part));
        add_paths(node.parts[part], path, partition);
    }
}

void add_coarse(const ClusterNode& node, Partition& partition) {
    for (const int member : node.members) {
        partition.coarse_of[at(member)] = static_cast<int>(partition.coarse.size());
    }
    partition.coarse.push_back(node.members);
    add_paths(node, {}, partition);
}

/// Gives every PU the group and path of its core's representative, and the core as last entry.
void put_siblings_back(const Level& core, Partition& partition) {
    std::map<int, int> representative;
    for (const auto& group : partition.coarse) {
        for (const int pu : group) {
            representative[core.object[at(pu)]] = pu;
        }
    }
    const std::vector<std::vector<int>> paths = partition.path;
    for (std::size_t pu = 0; pu < partition.path.size(); ++pu) {
        const int chosen = representative.at(core.object[pu]);
        if (static_cast<int>(pu) != chosen) {
            partition.coarse_of[pu] = partition.coarse_of[at(chosen)];
            partition.coarse[at(partition.coarse_of[pu])].push_back(static_cast<int>(pu));
        }
        partition.path[pu] = paths[at(chosen)];
        partition.path[pu].push_back(core.object[pu]);
    }
}

} // namespace

int Partition::shared_depth(int a, int b) const {
    const std::vector<int>& left = path[at(a)];
    const std::vector<int>& right = path[at(b)];
    const auto end = std::mismatch(left.begin(), left.end(), right.begin(), right.end()).first;
    return static_cast<int>(end - left.begin());
}

Partition find_partition(Machine& machine, PairTable& table,
                         const std::function<bool()>& keep_going) {
    const std::vector<Level> levels = distinct_levels(machine.topology.pus);
    const Level* const core = find_core_level(levels);
    const Level* const coarse = find_coarse_level(levels);
    const std::vector<int> chosen = representatives(machine.size(), core);
    Partition partition;
    partition.coarse_of.assign(at(machine.size()), -1);
    partition.path.resize(at(machine.size()));
    if (coarse != nullptr) {
        std::vector<std::vector<int>> groups(at(coarse->count));
        for (const int pu : chosen) {
            groups[at(coarse->object[at(pu)])].push_back(pu);
        }
        int split = 0;
        for (const std::vector<int>& group : groups) {
            const ClusterNode node = cluster_by_leaders(group, table, keep_going);
            split += node.parts.empty() ? 0 : 1;
            add_coarse(node, partition);
        }
        // Parts around a common L2 are in the topology too; others it does not know.
        const bool known = std::any_of(levels.begin(), levels.end(), [&](const Level& level) {
            return level.name != "core" && level.count > coarse->count;
        });
        if (split > 0 && !known) {
            machine.topology.disagreements.push_back(
                fmt::format("{} of {} objects of level {} fall into parts that the topology does "
                            "not show",
                            split, coarse->count, coarse->name));
        }
    } else {
        const ClusterNode root = cluster_by_leaders(chosen, table, keep_going);
        for (const ClusterNode* const node : coarse_nodes(root)) {
            add_coarse(*node, partition);
        }
    }
    if (core != nullptr) {
        put_siblings_back(*core, partition);
    }
    return partition;
}

} // namespace corymb::discover

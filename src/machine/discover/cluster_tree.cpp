// SPDX-License-Identifier: Apache-2.0
#include "machine/discover/cluster_tree.hpp"

#include "machine/discover/gaps.hpp"

#include <algorithm>
#include <cmath>
#include <set>

namespace corymb::discover {
namespace {

/// Members of `rest` that lie to `leader` as those of `pattern` lie to its own leader; empty if one
/// of them is not there or is not nearer than `threshold`.
std::vector<int> translated(const std::vector<int>& pattern, int leader, const std::set<int>& rest,
                            double threshold, PairTable& table) {
    std::vector<int> part;
    for (const int member : pattern) {
        const int guess = leader + member - pattern.front();
        if (!rest.contains(guess)) {
            return {};
        }
        part.push_back(guess);
    }
    for (std::size_t i = 1; i < part.size(); ++i) {
        if (!(table(leader, part[i]).cost() < threshold)) {
            return {};
        }
    }
    return part;
}

std::vector<int> nearer_than(double threshold, int leader, const std::set<int>& among,
                             PairTable& table, const std::function<bool()>& keep_going) {
    std::vector<int> part{leader};
    for (const int other : among) {
        if (!keep_going()) {
            break; // The caller asks as well, and then drops the unfinished parts.
        }
        if (other != leader && table(leader, other).cost() < threshold) {
            part.push_back(other);
        }
    }
    return part;
}

/// Cuts a set into parts within which costs to the leader are below the threshold.
std::vector<std::vector<int>> cut(const std::vector<int>& members, double threshold,
                                  PairTable& table, const std::function<bool()>& keep_going) {
    std::set<int> rest(members.begin(), members.end());
    std::vector<std::vector<int>> parts;
    while (!rest.empty()) {
        if (!keep_going()) {
            return {};
        }
        const int leader = parts.empty() ? members.front() : *rest.begin();
        std::vector<int> part;
        if (!parts.empty() && parts.front().size() > 1) {
            part = translated(parts.front(), leader, rest, threshold, table);
        }
        if (part.empty()) {
            part = nearer_than(threshold, leader, rest, table, keep_going);
        }
        for (const int member : part) {
            rest.erase(member);
        }
        parts.push_back(std::move(part));
    }
    if (!keep_going()) {
        return {};
    }
    return parts;
}

void split(ClusterNode& node, PairTable& table, const std::function<bool()>& keep_going) {
    if (node.members.size() < 3 || !keep_going()) {
        return;
    }
    const int leader = node.members.front();
    std::vector<double> row;
    for (std::size_t i = 1; i < node.members.size(); ++i) {
        if (!keep_going()) {
            return;
        }
        row.push_back(table(leader, node.members[i]).cost());
    }
    const std::vector<double> gaps = gap_thresholds(row, significant_ratio(table.noise()));
    // A single PU beyond the last jump is rather an outlier than a part of its own.
    for (auto gap = gaps.rbegin(); gap != gaps.rend(); ++gap) {
        const auto beyond =
            std::count_if(row.begin(), row.end(), [&](double cost) { return cost > *gap; });
        if (beyond < 2 && node.members.size() > 3) {
            continue;
        }
        std::vector<std::vector<int>> parts = cut(node.members, *gap, table, keep_going);
        if (parts.size() < 2) {
            return;
        }
        for (std::vector<int>& part : parts) {
            node.parts.push_back({std::move(part), {}});
            split(node.parts.back(), table, keep_going);
        }
        return;
    }
}

} // namespace

double significant_ratio(double noise) {
    return std::max(1.25, 1 + 6 * noise);
}

ClusterNode cluster_by_leaders(const std::vector<int>& members, PairTable& table,
                               const std::function<bool()>& keep_going) {
    ClusterNode root{members, {}};
    split(root, table, keep_going);
    return root;
}

} // namespace corymb::discover

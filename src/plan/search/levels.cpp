// SPDX-License-Identifier: Apache-2.0
#include "plan/search/levels.hpp"

#include <algorithm>
#include <map>
#include <numeric>
#include <set>
#include <utility>

namespace corymb {

namespace {

std::size_t at(int index) {
    return static_cast<std::size_t>(index);
}

/// Renumbers arbitrary labels densely; empty if a label is negative (unknown).
Partition dense(const std::vector<int>& labels) {
    std::map<int, std::int32_t> number;
    Partition partition;
    for (const int label : labels) {
        if (label < 0) {
            return {};
        }
        partition.push_back(
            number.try_emplace(label, static_cast<std::int32_t>(number.size())).first->second);
    }
    return partition;
}

std::int32_t group_count(const Partition& partition) {
    return partition.empty() ? 0 : *std::ranges::max_element(partition) + 1;
}

bool is_useful(const Partition& partition) {
    const std::int32_t groups = group_count(partition);
    return groups > 1 && at(groups) < partition.size();
}

bool refines(const Partition& fine, const Partition& coarse) {
    std::vector<std::int32_t> parent(at(group_count(fine)), -1);
    for (std::size_t rank = 0; rank < fine.size(); ++rank) {
        std::int32_t& owner = parent[at(fine[rank])];
        if (owner >= 0 && owner != coarse[rank]) {
            return false;
        }
        owner = coarse[rank];
    }
    return true;
}

Partition by_field(const GenerateInput& input, int Pu::* field) {
    std::vector<int> labels;
    for (const int pu : input.placement) {
        labels.push_back(input.machine->topology.pus[at(pu)].*field);
    }
    return dense(labels);
}

std::vector<Partition> as_given(const GenerateInput& input) {
    std::vector<Partition> result;
    for (const GivenLevel& level : input.machine->levels) {
        std::vector<int> labels;
        for (const int pu : input.placement) {
            labels.push_back(level.group[at(pu)]);
        }
        result.push_back(dense(labels));
    }
    return result;
}

/// Joins the machine's measured groups by single linkage at every class median.
std::vector<Partition> by_classes(const GenerateInput& input) {
    const Machine& machine = *input.machine;
    if (machine.group.size() != machine.topology.pus.size() || machine.classes.empty()) {
        return {};
    }
    const int groups = machine.group_count();
    std::set<double> limits;
    for (const PairClass& pair_class : machine.classes) {
        limits.insert(pair_class.send.median + pair_class.receive.median);
    }
    std::vector<Partition> result;
    for (const double limit : limits) {
        std::vector<int> label(at(groups));
        std::iota(label.begin(), label.end(), 0);
        const auto find = [&](int group) {
            while (label[at(group)] != group) {
                group = label[at(group)] = label[at(label[at(group)])];
            }
            return group;
        };
        for (int a = 0; a < groups; ++a) {
            for (int b = 0; b < groups; ++b) {
                if (a == b) { // A group of one CPU has no class within.
                    continue;
                }
                const auto& pair_class =
                    machine.classes[at(machine.group_class[at(a * groups + b)])];
                if (pair_class.send.median + pair_class.receive.median <= limit) {
                    label[at(std::max(find(a), find(b)))] = std::min(find(a), find(b));
                }
            }
        }
        std::vector<int> labels;
        for (const int pu : input.placement) {
            labels.push_back(find(machine.group[at(pu)]));
        }
        result.push_back(dense(labels));
    }
    std::vector<int> finest;
    for (const int pu : input.placement) {
        finest.push_back(machine.group[at(pu)]);
    }
    result.push_back(dense(finest));
    return result;
}

} // namespace

std::vector<Partition> group_levels(const GenerateInput& input) {
    if (input.machine == nullptr || input.placement.empty()) {
        return {};
    }
    std::vector<Partition> candidates = as_given(input);
    if (candidates.empty()) {
        for (const auto field : {&Pu::package, &Pu::numa, &Pu::die, &Pu::l3, &Pu::l2, &Pu::core}) {
            candidates.push_back(by_field(input, field));
        }
        if (std::ranges::none_of(candidates, is_useful)) {
            candidates = by_classes(input);
        }
        std::ranges::stable_sort(candidates, std::ranges::less{}, group_count);
    }
    std::vector<Partition> levels;
    for (Partition& candidate : candidates) {
        const bool nested = levels.empty() || (refines(candidate, levels.back()) &&
                                               group_count(candidate) > group_count(levels.back()));
        if (is_useful(candidate) && nested) {
            levels.push_back(std::move(candidate));
        }
    }
    return levels;
}

Partition numa_nodes(const GenerateInput& input) {
    if (input.machine != nullptr && !input.placement.empty()) {
        for (const auto field : {&Pu::numa, &Pu::package}) {
            if (!input.machine->levels.empty()) {
                break; // They stand in place of the topology.
            }
            Partition partition = by_field(input, field);
            if (group_count(partition) > 1) {
                return partition;
            }
        }
        if (std::vector<Partition> levels = group_levels(input); !levels.empty()) {
            return std::move(levels.front());
        }
    }
    return Partition(at(input.costs.size()), 0);
}

std::vector<std::vector<Rank>> members_of(const Partition& partition) {
    std::vector<std::vector<Rank>> members(at(group_count(partition)));
    for (std::size_t rank = 0; rank < partition.size(); ++rank) {
        members[at(partition[rank])].push_back(static_cast<Rank>(rank));
    }
    return members;
}

} // namespace corymb

// SPDX-License-Identifier: Apache-2.0
#include "machine/model/nearness.hpp"

#include <algorithm>
#include <limits>
#include <map>
#include <set>
#include <utility>

namespace corymb {

namespace {

constexpr double never = std::numeric_limits<double>::infinity();
/// Differences of less are no reason for another order than that of the list.
constexpr double about = 1.1;

std::size_t at(int number) {
    return static_cast<std::size_t>(number);
}

double cost_of(const Machine& machine, int from, int to) {
    const PairClass& there = machine.classes[at(machine.class_of(from, to))];
    const PairClass& back = machine.classes[at(machine.class_of(to, from))];
    return there.send.median + there.receive.median + back.send.median + back.receive.median;
}

/// Numbers that are left are given anew, so that they are dense.
void make_dense(std::vector<Pu>& pus, int Pu::* field) {
    std::map<int, int> number_of;
    for (Pu& pu : pus) {
        if (pu.*field >= 0) {
            const auto next = static_cast<int>(number_of.size());
            pu.*field = number_of.try_emplace(pu.*field, next).first->second;
        }
    }
}

/// The same of groups.
void take_groups(const Machine& machine, std::span<const int> pus, Machine& part) {
    std::map<int, int> number_of;
    std::vector<int> old;
    for (const int pu : pus) {
        const auto [place, is_new] =
            number_of.try_emplace(machine.group[at(pu)], static_cast<int>(old.size()));
        if (is_new) {
            old.push_back(place->first);
        }
        part.group.push_back(place->second);
    }
    const auto groups = at(machine.group_count());
    for (const int from : old) {
        for (const int to : old) {
            part.group_class.push_back(machine.group_class[at(from) * groups + at(to)]);
        }
    }
}

std::vector<float> rows_of(const std::vector<float>& matrix, std::size_t width,
                           std::span<const int> pus) {
    std::vector<float> rows;
    for (const int from : pus) {
        for (const int to : matrix.empty() ? std::span<const int>() : pus) {
            rows.push_back(matrix[at(from) * width + at(to)]);
        }
    }
    return rows;
}

/// The groups of these PUs alone, numbered anew.
void take_levels(const Machine& machine, std::span<const int> pus, Machine& part) {
    for (std::size_t i = 0; i < part.levels.size(); ++i) {
        std::map<int, int> number;
        std::vector<int>& group = part.levels[i].group;
        group.clear();
        for (const int pu : pus) {
            const int old = machine.levels[i].group[at(pu)];
            group.push_back(number.try_emplace(old, static_cast<int>(number.size())).first->second);
        }
    }
}

} // namespace

std::size_t most_central(std::span<const double> distances) {
    const double least = std::ranges::min(distances);
    const auto found = std::ranges::find_if(
        distances, [least](double distance) { return distance <= about * least; });
    return static_cast<std::size_t>(found - distances.begin());
}

Nearness nearness_of(const Machine& machine, std::span<const int> pus) {
    const std::size_t count = pus.size();
    Nearness found;
    found.distance.assign(count, 0);
    for (std::size_t one = 0; one < count; ++one) {
        for (std::size_t other = 0; other < one; ++other) {
            const double cost = cost_of(machine, pus[one], pus[other]);
            found.distance[one] += cost;
            found.distance[other] += cost;
        }
    }
    // Prim's way to a spanning tree: it leaves a package only when it has all of it.
    std::vector<double> to_taken(count, never);
    std::vector<bool> is_taken(count, false);
    for (std::size_t next = most_central(found.distance); found.order.size() < count;) {
        found.order.push_back(static_cast<int>(next));
        is_taken[next] = true;
        to_taken[next] = never;
        for (std::size_t other = 0; other < count; ++other) {
            if (!is_taken[other]) {
                to_taken[other] =
                    std::min(to_taken[other], cost_of(machine, pus[next], pus[other]));
            }
        }
        next = most_central(to_taken);
    }
    return found;
}

std::vector<int> pus_of_each_core_first(const Machine& machine) {
    std::vector<int> pus;
    std::vector<int> other_threads;
    std::set<int> cores;
    for (int pu = 0; pu < machine.size(); ++pu) {
        const int core = machine.topology.pus[at(pu)].core;
        const bool is_first = core < 0 || cores.insert(core).second;
        (is_first ? pus : other_threads).push_back(pu);
    }
    pus.insert(pus.end(), other_threads.begin(), other_threads.end());
    return pus;
}

Machine part_of(const Machine& machine, std::span<const int> pus) {
    Machine part = machine;
    part.topology.pus.clear();
    part.group.clear();
    part.group_class.clear();
    for (const int pu : pus) {
        part.topology.pus.push_back(machine.topology.pus[at(pu)]);
    }
    for (int Pu::* field : {&Pu::core, &Pu::l2, &Pu::l3, &Pu::die, &Pu::package, &Pu::numa}) {
        make_dense(part.topology.pus, field);
    }
    take_levels(machine, pus, part);
    part.fingerprint.topology_sha256.clear(); // It was of all PUs.
    take_groups(machine, pus, part);
    const std::size_t width = machine.topology.pus.size();
    part.send = rows_of(machine.send, width, pus);
    part.receive = rows_of(machine.receive, width, pus);
    return part;
}

} // namespace corymb

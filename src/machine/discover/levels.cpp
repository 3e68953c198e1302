// SPDX-License-Identifier: Apache-2.0
#include "machine/discover/levels.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <map>
#include <utility>

namespace corymb::discover {
namespace {

std::size_t at(int index) {
    return static_cast<std::size_t>(index);
}

struct Column {
    const char* name;
    int Pu::* member;
};
// In the order of preference: of two equal partitions the first name is kept.
constexpr Column columns[] = {{"core", &Pu::core}, {"l2", &Pu::l2},   {"l3", &Pu::l3},
                              {"numa", &Pu::numa}, {"die", &Pu::die}, {"package", &Pu::package}};

/// Renumbers keys densely in the order of appearance.
Level dense_level(std::string name, const std::vector<int>& keys) {
    Level level{std::move(name), {}, 0};
    std::map<int, int> numbers;
    for (const int key : keys) {
        level.object.push_back(
            numbers.try_emplace(key, static_cast<int>(numbers.size())).first->second);
    }
    level.count = static_cast<int>(numbers.size());
    return level;
}

/// Typical times in nanoseconds from the end of a send until the receiver has the line, by the
/// smallest column that two PUs share; the last: they share none. Medians over current server
/// processors; they matter only relative to each other.
constexpr double typical_receive[] = {10, 25, 35, 60, 75, 90, 180};
static_assert(std::size(typical_receive) == std::size(columns) + 1);

/// A class costs at least this much more than the one within it, if nothing better is known: the
/// least ratio by which a measurement tells two classes apart.
constexpr double least_step = 1.25;

std::vector<int> keys_of(const std::vector<Pu>& pus, int Pu::* member) {
    std::vector<int> keys;
    keys.reserve(pus.size());
    for (const Pu& pu : pus) {
        keys.push_back(pu.*member);
    }
    return keys;
}

bool is_known(const std::vector<int>& keys) {
    return std::find(keys.begin(), keys.end(), -1) == keys.end();
}

/// Whether all PUs with one key lie in one object of the level.
bool is_within(const std::vector<int>& keys, const Level& level) {
    std::map<int, int> object_of;
    for (std::size_t pu = 0; pu < keys.size(); ++pu) {
        const int object = level.object[pu];
        if (object_of.try_emplace(keys[pu], object).first->second != object) {
            return false;
        }
    }
    return true;
}

/// One more than the last column that divides all PUs which share none of the first `passed`
/// levels. They cost at least what is typical of the column after it.
std::size_t divided_by(const std::vector<Pu>& pus, const std::vector<Level>& levels,
                       std::size_t passed) {
    for (std::size_t column = std::size(columns); column > 0; --column) {
        const std::vector<int> keys = keys_of(pus, columns[column - 1].member);
        if (!is_known(keys)) {
            continue;
        }
        const auto first = levels.begin();
        const bool divides =
            dense_level("", keys).count == static_cast<int>(pus.size()) ||
            std::any_of(first, first + static_cast<std::ptrdiff_t>(passed),
                        [&](const Level& level) { return is_within(keys, level); });
        if (divides) {
            return column;
        }
    }
    return 0;
}

/// What two PUs have in common if they share a level and none of those before it.
struct Shared {
    std::string name;
    double receive = 0; ///< Typical, whatever the levels within it cost.
};

Shared shared_at(const std::vector<Pu>& pus, const std::vector<Level>& levels, std::size_t index) {
    const std::size_t divided = divided_by(pus, levels, index);
    if (levels.empty()) {
        return {"any", typical_receive[divided]};
    }
    if (index == levels.size()) {
        return {"cross-" + levels.back().name, typical_receive[std::size(columns)]};
    }
    const Level& level = levels[index];
    const auto own = static_cast<std::size_t>(
        std::find_if(std::begin(columns), std::end(columns),
                     [&](const Column& column) { return level.name == column.name; }) -
        std::begin(columns));
    const double receive = typical_receive[std::max(own, divided)];
    if (level.count == 1 && divided > own) { // All PUs share it: what divides them says more.
        return {std::string("cross-") + columns[divided - 1].name, receive};
    }
    return {"same-" + level.name, receive};
}

Statistic assumed(double value) {
    return {.median = value, .q25 = value, .q75 = value, .count = 1};
}

PairClass typical_class(const std::string& name, double receive) {
    // The ratio of send to receive is the one that the importer of latency tables assumes.
    constexpr double send_share = 0.28;
    PairClass result;
    result.name = name;
    result.send = assumed(send_share * receive);
    result.receive = assumed(receive);
    result.round_trip = assumed(2 * (1 + send_share) * receive);
    return result;
}

/// PUs that agree in every level are interchangeable: they are one group.
struct Groups {
    std::vector<int> of_pu;
    std::vector<int> first; ///< A PU of each.
    std::vector<int> size;
};

Groups groups_of(const std::vector<Pu>& pus, const std::vector<Level>& levels, bool by_node) {
    Groups groups;
    std::map<std::vector<int>, int> numbers;
    for (std::size_t pu = 0; pu < pus.size(); ++pu) {
        std::vector<int> signature;
        for (const Level& level : levels) {
            signature.push_back(level.object[pu]);
        }
        signature.push_back(by_node ? pus[pu].numa : 0);
        const auto [found, is_new] =
            numbers.try_emplace(signature, static_cast<int>(numbers.size()));
        groups.of_pu.push_back(found->second);
        if (is_new) {
            groups.first.push_back(static_cast<int>(pu));
            groups.size.push_back(0);
        }
        ++groups.size[at(found->second)];
    }
    return groups;
}

/// Index of the first level that both PUs share, or the number of levels.
std::size_t shared_level(const std::vector<Level>& levels, int a, int b) {
    const auto shares = [&](const Level& level) {
        return level.object[at(a)] == level.object[at(b)];
    };
    return static_cast<std::size_t>(std::find_if(levels.begin(), levels.end(), shares) -
                                    levels.begin());
}

/// A class: the level, and the kernel's distance if the machine has several nodes.
using ClassKey = std::pair<std::size_t, double>;

/// Where the kernel calls pairs of an inner level farther than those of an outer one.
void note_contradictions(const std::map<ClassKey, int>& class_of, Machine& machine) {
    for (auto near = class_of.begin(); near != class_of.end(); ++near) {
        const auto far = std::find_if(near, class_of.end(), [&](const auto& other) {
            return other.first.first > near->first.first && other.first.second < near->first.second;
        });
        if (far != class_of.end()) {
            const auto name = [&](int index) {
                return machine.classes[at(index)].name;
            };
            machine.topology.disagreements.push_back(fmt::format(
                "{} pairs lie within {} pairs, but the kernel calls their nodes farther apart",
                name(near->second), name(far->second)));
        }
    }
}

/// One class a key, each dearer than those before it.
void add_classes(std::map<ClassKey, int>& class_of, const std::vector<Level>& levels,
                 Machine& machine) {
    double before = 0;
    for (auto next = class_of.begin(); next != class_of.end();) {
        const std::size_t level = next->first.first;
        const auto end = class_of.lower_bound(ClassKey(level + 1, 0));
        const bool is_split = std::next(next) != end;
        const double nearest = next->first.second;
        const Shared shared = shared_at(machine.topology.pus, levels, level);
        const double base = shared.receive > before ? shared.receive : least_step * before;
        for (; next != end; ++next) {
            const double distance = next->first.second;
            // The kernel's distances are ratios of the times that an access to memory takes.
            before = is_split ? base * distance / nearest : base;
            next->second = static_cast<int>(machine.classes.size());
            machine.classes.push_back(typical_class(
                is_split ? fmt::format("{}-distance-{}", shared.name, distance) : shared.name,
                before));
        }
    }
    note_contradictions(class_of, machine);
}

} // namespace

std::vector<Level> distinct_levels(const std::vector<Pu>& pus) {
    std::vector<Level> levels;
    for (const Column& column : columns) {
        const std::vector<int> keys = keys_of(pus, column.member);
        if (!is_known(keys)) {
            continue;
        }
        Level level = dense_level(column.name, keys);
        const auto equal = [&](const Level& other) {
            return other.object == level.object;
        };
        const bool trivial = level.count == static_cast<int>(pus.size());
        if (!trivial && std::none_of(levels.begin(), levels.end(), equal)) {
            const auto place =
                std::upper_bound(levels.begin(), levels.end(), level,
                                 [](const Level& a, const Level& b) { return a.count > b.count; });
            levels.insert(place, std::move(level));
        }
    }
    return levels;
}

void classes_from_topology(Machine& machine, const NodeDistances& distances) {
    const std::vector<Pu>& pus = machine.topology.pus;
    const std::vector<Level> levels = distinct_levels(pus);
    const bool by_node = distances.nodes > 1;
    const Groups groups = groups_of(pus, levels, by_node);
    machine.group = groups.of_pu;
    machine.classes.clear();
    const std::size_t count = groups.first.size();
    std::map<ClassKey, int> class_of; // First in the order of appearance.
    machine.group_class.assign(count * count, -1);
    for (std::size_t a = 0; a < count; ++a) {
        for (std::size_t b = 0; b < count; ++b) {
            if (a == b && groups.size[a] == 1) {
                continue; // No pair is in there.
            }
            const int from = groups.first[a];
            const int to = groups.first[b];
            const double distance =
                by_node ? distances.between(pus[at(from)].numa, pus[at(to)].numa) : 0;
            const ClassKey key{shared_level(levels, from, to), distance};
            const auto next = static_cast<int>(class_of.size());
            machine.group_class[a * count + b] = class_of.try_emplace(key, next).first->second;
        }
    }
    std::vector<int*> place(class_of.size());
    for (auto& [key, index] : class_of) {
        place[at(index)] = &index;
    }
    add_classes(class_of, levels, machine);
    for (int& index : machine.group_class) {
        index = index < 0 ? -1 : *place[at(index)];
    }
}

} // namespace corymb::discover

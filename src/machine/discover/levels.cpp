// SPDX-License-Identifier: Apache-2.0
#include "machine/discover/levels.hpp"

#include <algorithm>
#include <cstddef>
#include <map>
#include <string_view>
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

/// Typical times in nanoseconds from the end of a send until the receiver has the line. Medians
/// over current server processors; they matter only relative to each other.
double typical_receive(std::string_view level) {
    constexpr std::pair<std::string_view, double> typical[] = {
        {"core", 10}, {"l2", 25}, {"l3", 35}, {"numa", 60}, {"die", 75}, {"package", 90}};
    for (const auto& [name, time] : typical) {
        if (name == level) {
            return time;
        }
    }
    return 180;
}

Statistic assumed(double value) {
    return {.median = value, .q25 = value, .q75 = value, .count = 1};
}

PairClass typical_class(const std::string& name, const std::string& level) {
    // The ratio of send to receive is the one that the importer of latency tables assumes.
    constexpr double send_share = 0.28;
    const double receive = typical_receive(level);
    PairClass result;
    result.name = name;
    result.send = assumed(send_share * receive);
    result.receive = assumed(receive);
    result.round_trip = assumed(2 * (1 + send_share) * receive);
    return result;
}

} // namespace

std::vector<Level> distinct_levels(const std::vector<Pu>& pus) {
    std::vector<Level> levels;
    for (const Column& column : columns) {
        std::vector<int> keys;
        for (const Pu& pu : pus) {
            keys.push_back(pu.*column.member);
        }
        if (std::find(keys.begin(), keys.end(), -1) != keys.end()) {
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

void classes_from_topology(Machine& machine) {
    const std::vector<Pu>& pus = machine.topology.pus;
    const std::vector<Level> levels = distinct_levels(pus);
    // PUs that agree in every level are interchangeable: they are one group.
    std::vector<int> keys(pus.size());
    std::map<std::vector<int>, int> signatures;
    for (std::size_t pu = 0; pu < pus.size(); ++pu) {
        std::vector<int> signature;
        for (const Level& level : levels) {
            signature.push_back(level.object[pu]);
        }
        if (levels.empty()) {
            signature.push_back(0);
        }
        keys[pu] =
            signatures.try_emplace(signature, static_cast<int>(signatures.size())).first->second;
    }
    machine.group = keys;
    const auto groups = signatures.size();
    std::vector<const std::vector<int>*> signature_of(groups);
    for (const auto& [signature, group] : signatures) {
        signature_of[at(group)] = &signature;
    }

    machine.classes.clear();
    std::map<std::size_t, int> class_of_level; // The index past the last means: no shared level.
    for (std::size_t index = 0; index <= levels.size(); ++index) {
        const bool covers_all = index > 0 && levels[index - 1].count == 1;
        if (index == levels.size() && covers_all) {
            break; // Every pair shares the last level.
        }
        const bool shared = index < levels.size();
        const std::string level = shared ? levels[index].name : "";
        const std::string name = shared           ? "same-" + level
                                 : levels.empty() ? "any"
                                                  : "cross-" + levels.back().name;
        class_of_level[index] = static_cast<int>(machine.classes.size());
        machine.classes.push_back(typical_class(name, level));
    }
    machine.group_class.assign(groups * groups, 0);
    for (std::size_t a = 0; a < groups; ++a) {
        for (std::size_t b = 0; b < groups; ++b) {
            std::size_t index = 0;
            while (index < levels.size() &&
                   (*signature_of[a])[index] != (*signature_of[b])[index]) {
                ++index;
            }
            machine.group_class[a * groups + b] = class_of_level[index];
        }
        const bool single = std::count(keys.begin(), keys.end(), static_cast<int>(a)) == 1;
        if (single) {
            machine.group_class[a * groups + a] = -1; // No pair is in there.
        }
    }
    if (pus.size() == 1) {
        machine.classes.clear();
    }
}

} // namespace corymb::discover

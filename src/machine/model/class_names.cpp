// SPDX-License-Identifier: Apache-2.0
#include "machine/model/class_names.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <set>
#include <utility>

namespace corymb::model {

namespace {

/// From the smallest domain to the largest.
struct Domain {
    const char* name;
    int Pu::* member;
};
constexpr std::array<Domain, 6> domains = {{{"core", &Pu::core},
                                            {"l2", &Pu::l2},
                                            {"l3", &Pu::l3},
                                            {"die", &Pu::die},
                                            {"numa", &Pu::numa},
                                            {"package", &Pu::package}}};

std::vector<int> sizes_of(const std::vector<int>& part) {
    std::vector<int> sizes(static_cast<std::size_t>(*std::max_element(part.begin(), part.end())) +
                           1);
    for (const int number : part) {
        ++sizes[static_cast<std::size_t>(number)];
    }
    return sizes;
}

/// The parts of "costs at most class k", or none when that relation does not divide the groups.
std::vector<int> parts_at(const Machine& machine, const std::vector<int>& members, int k) {
    const auto groups = static_cast<std::size_t>(machine.group_count());
    const auto near = [&](std::size_t a, std::size_t b) {
        return a == b ? members[a] == 1 || machine.group_class[a * groups + a] <= k
                      : std::max(machine.group_class[a * groups + b],
                                 machine.group_class[b * groups + a]) <= k;
    };
    std::vector<int> part(groups, -1);
    int parts = 0;
    for (std::size_t a = 0; a < groups; ++a) {
        if (part[a] < 0) {
            for (std::size_t b = a; b < groups; ++b) {
                if (part[b] < 0 && (a == b || near(a, b))) {
                    part[b] = parts;
                }
            }
            ++parts;
        }
        for (std::size_t b = 0; b <= a; ++b) {
            if (near(a, b) != (part[a] == part[b])) {
                return {};
            }
        }
    }
    return part;
}

/// Equal sizes; or one size and single PUs, as with the cores of hybrid processors.
bool is_even(const std::vector<int>& part) {
    std::set<int> sizes;
    for (const int size : sizes_of(part)) {
        sizes.insert(size);
    }
    return sizes.size() == 1 || (sizes.size() == 2 && *sizes.begin() == 1);
}

/// Threads of one core hand a line over through their own first-level cache; nothing else is as
/// fast on any processor that we have data of.
bool is_core_speed(const Machine& machine, int pair_class) {
    constexpr double nanoseconds_max = 16;
    constexpr double cycles_max = 60;
    const double receive = machine.classes[static_cast<std::size_t>(pair_class)].receive.median;
    return receive <= (machine.unit == TimeUnit::nanoseconds ? nanoseconds_max : cycles_max);
}

bool known(const std::vector<Pu>& pus, int Pu::* member) {
    return std::all_of(pus.begin(), pus.end(), [&](const Pu& pu) { return pu.*member >= 0; });
}

bool same_division(const std::vector<Pu>& pus, int Pu::* member, const std::vector<int>& part) {
    std::map<int, int> to_part;
    std::map<int, int> to_number;
    for (std::size_t i = 0; i < pus.size(); ++i) {
        const int number = pus[i].*member;
        if (number < 0 || to_part.try_emplace(number, part[i]).first->second != part[i] ||
            to_number.try_emplace(part[i], number).first->second != number) {
            return false;
        }
    }
    return true;
}

/// Index in `domains` of the smallest one that both share, or domains.size().
std::size_t shared_domain(const Pu& a, const Pu& b) {
    std::size_t i = 0;
    while (i < domains.size() &&
           (a.*domains[i].member < 0 || a.*domains[i].member != b.*domains[i].member)) {
        ++i;
    }
    return i;
}

std::string label(std::size_t domain, const std::vector<Pu>& pus) {
    if (domain < domains.size()) {
        return std::string("same-") + domains[domain].name;
    }
    for (std::size_t i = domains.size(); i-- > 0;) {
        if (known(pus, domains[i].member)) {
            return std::string("cross-") + domains[i].name;
        }
    }
    return "all";
}

} // namespace

std::vector<MeasuredLevel> measured_levels(const Machine& machine) {
    const std::vector<int> members = sizes_of(machine.group);
    const auto size = static_cast<std::size_t>(machine.size());
    std::vector<MeasuredLevel> levels;
    std::size_t parts_before = size; // A division into single PUs, or the one before, says nothing.
    for (int k = 0; k < static_cast<int>(machine.classes.size()); ++k) {
        const std::vector<int> of_group = parts_at(machine, members, k);
        if (of_group.empty()) {
            continue;
        }
        MeasuredLevel level{k, std::vector<int>(size)};
        for (std::size_t i = 0; i < size; ++i) {
            level.part[i] = of_group[static_cast<std::size_t>(machine.group[i])];
        }
        const std::size_t parts = sizes_of(level.part).size();
        if (parts > 1 && parts < parts_before && is_even(level.part)) {
            levels.push_back(std::move(level));
            parts_before = parts;
        }
    }
    return levels;
}

void fill_topology(Machine& machine, const std::vector<MeasuredLevel>& levels) {
    std::vector<Pu>& pus = machine.topology.pus;
    const auto assign = [&](int Pu::* member, const MeasuredLevel& level) {
        for (std::size_t i = 0; i < pus.size(); ++i) {
            pus[i].*member = level.part[i];
        }
    };
    machine.topology.source = "measured";
    std::size_t first = 0;
    if (!levels.empty() && is_core_speed(machine, levels[0].pair_class)) {
        assign(&Pu::core, levels[0]);
        machine.fingerprint.smt = true;
        first = 1;
    }
    // Two cores that are nearer than the rest share no more than a tile, as on Xeon Phi.
    const auto size_of_first = [&] {
        const std::vector<int> sizes = sizes_of(levels[first].part);
        return *std::max_element(sizes.begin(), sizes.end());
    };
    if (first < levels.size() && size_of_first() == 2 && pus.size() > 4) {
        assign(&Pu::l2, levels[first]);
        ++first;
    }
    // What lies above is told apart only when there is more than one level: a group that shares a
    // cache first, the package last.
    const std::size_t above = levels.size() - first;
    if (above >= 1) {
        assign(&Pu::l3, levels[first]);
    }
    if (above >= 2) {
        assign(&Pu::package, levels.back());
    }
    if (above >= 3) {
        assign(&Pu::die, levels[first + 1]);
    }
}

void note_disagreements(Machine& machine, const std::vector<MeasuredLevel>& levels) {
    for (const MeasuredLevel& level : levels) {
        const bool explained =
            std::any_of(domains.begin(), domains.end(), [&](const Domain& domain) {
                return same_division(machine.topology.pus, domain.member, level.part);
            });
        if (!explained) {
            machine.topology.disagreements.push_back(fmt::format(
                "The PUs fall into {} groups by measured cost (class {}), which no level of the "
                "reported topology explains.",
                sizes_of(level.part).size(),
                machine.classes[static_cast<std::size_t>(level.pair_class)].name));
        }
    }
}

void name_classes(Machine& machine) {
    const std::vector<Pu>& pus = machine.topology.pus;
    std::vector<std::array<std::size_t, domains.size() + 1>> votes(machine.classes.size());
    for (int from = 0; from < machine.size(); ++from) {
        for (int to = 0; to < machine.size(); ++to) {
            if (from != to) {
                const std::size_t domain = shared_domain(pus[static_cast<std::size_t>(from)],
                                                         pus[static_cast<std::size_t>(to)]);
                ++votes[static_cast<std::size_t>(machine.class_of(from, to))][domain];
            }
        }
    }
    std::map<std::string, int> used;
    for (std::size_t i = 0; i < machine.classes.size(); ++i) {
        const auto most = std::max_element(votes[i].begin(), votes[i].end()) - votes[i].begin();
        const std::string name = label(static_cast<std::size_t>(most), pus);
        const int times = ++used[name];
        machine.classes[i].name = times == 1 ? name : fmt::format("{}-{}", name, times);
    }
}

} // namespace corymb::model

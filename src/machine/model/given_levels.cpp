// SPDX-License-Identifier: Apache-2.0
#include "machine/model/given_levels.hpp"

#include "base/cpu_list.hpp"
#include "base/file.hpp"
#include "base/json.hpp"

#include <corymb/error.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <map>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

namespace corymb {

namespace {

std::size_t at(int index) {
    return static_cast<std::size_t>(index);
}

struct NamedField {
    std::string_view name;
    int Pu::* field;
};
constexpr std::array<NamedField, 6> fields = {{{"package", &Pu::package},
                                               {"numa", &Pu::numa},
                                               {"die", &Pu::die},
                                               {"l3", &Pu::l3},
                                               {"l2", &Pu::l2},
                                               {"core", &Pu::core}}};
constexpr std::string_view no_levels = "none";

[[noreturn]] void refuse(const std::string& what) {
    throw Error(Errc::invalid_argument, what);
}

bool is_file(std::string_view levels) {
    return levels.find('/') != std::string_view::npos || levels.ends_with(".json");
}

const NamedField& field_called(std::string_view name) {
    const auto* const found = std::ranges::find(fields, name, &NamedField::name);
    if (found != fields.end()) {
        return *found;
    }
    std::string known;
    for (const NamedField& field : fields) {
        known += fmt::format("{}, ", field.name);
    }
    throw Error(Errc::unknown_name,
                fmt::format("no level is called \"{}\"; there are {}files such as ./my.json, and "
                            "\"{}\" alone",
                            name.substr(0, 60), known, no_levels));
}

std::vector<GivenLevel> by_names(const Machine& machine, std::string_view names) {
    if (names == no_levels) {
        return {{std::string(no_levels), std::vector<int>(machine.topology.pus.size(), 0)}};
    }
    std::vector<GivenLevel> levels;
    for (bool is_last = false; !is_last;) {
        const std::size_t comma = names.find(',');
        is_last = comma == std::string_view::npos;
        const NamedField& named = field_called(names.substr(0, comma));
        names.remove_prefix(is_last ? names.size() : comma + 1);
        GivenLevel level{std::string(named.name), {}};
        for (const Pu& pu : machine.topology.pus) {
            if (pu.*named.field < 0) {
                refuse(fmt::format("the model does not know the {} of CPU {}; give the levels in a "
                                   "file",
                                   named.name, pu.cpu));
            }
            level.group.push_back(pu.*named.field);
        }
        levels.push_back(std::move(level));
    }
    return levels;
}

/// One level of a file: a list of CPUs for each group. CPUs that the machine does not have may be
/// in it, so that one file serves a machine and each part of it.
GivenLevel level_of(const JsonView& level, const Machine& machine) {
    level.allow_only({"name", "groups"});
    GivenLevel result{level.at("name").text(), std::vector<int>(machine.topology.pus.size(), -1)};
    std::map<int, int> owner;
    int count = 0;
    const JsonView groups = level.at("groups");
    for (std::size_t i = 0; i < groups.size(); ++i) {
        const auto cpus = parse_cpu_list(groups[i].text());
        if (!cpus || cpus->empty()) {
            groups[i].fail("must be a list of CPUs such as \"0-3,8\"");
        }
        bool has_any = false;
        for (const int cpu : *cpus) {
            if (!owner.try_emplace(cpu, static_cast<int>(i)).second) {
                groups[i].fail(fmt::format("CPU {} is in group {}, too", cpu, owner[cpu]));
            }
            if (const int pu = machine.index_of_cpu(cpu); pu >= 0) {
                result.group[at(pu)] = count;
                has_any = true;
            }
        }
        count += has_any ? 1 : 0;
    }
    const auto missing = std::ranges::find(result.group, -1);
    if (missing != result.group.end()) {
        const auto pu = static_cast<std::size_t>(missing - result.group.begin());
        groups.fail(fmt::format("no group has CPU {}", machine.topology.pus[pu].cpu));
    }
    return result;
}

void require_right(std::span<const GivenLevel> levels, const Machine& machine) {
    if (const std::string trouble = trouble_with(levels, machine.topology.pus); !trouble.empty()) {
        refuse(trouble);
    }
}

std::vector<GivenLevel> levels_from_json(std::string_view text, const Machine& machine) {
    const JsonDocument document(text, Errc::invalid_argument);
    const JsonView root = document.root();
    if (const JsonView schema = root.at("schema"); schema.text() != "corymb-levels/1") {
        schema.fail("must be \"corymb-levels/1\"");
    }
    root.allow_only({"schema", "levels"});
    const JsonView list = root.at("levels");
    std::vector<GivenLevel> levels;
    for (std::size_t i = 0; i < list.size(); ++i) {
        levels.push_back(level_of(list[i], machine));
    }
    if (levels.empty()) {
        list.fail("must have a level; \"none\" in place of a file makes all CPUs one group");
    }
    require_right(levels, machine);
    return levels;
}

/// The first PU whose group reaches out of a group of the coarser level.
std::optional<std::size_t> first_outside(const GivenLevel& coarse, const GivenLevel& fine) {
    std::map<int, int> owner;
    for (std::size_t pu = 0; pu < fine.group.size(); ++pu) {
        if (owner.try_emplace(fine.group[pu], coarse.group[pu]).first->second != coarse.group[pu]) {
            return pu;
        }
    }
    return std::nullopt;
}

bool is_dense(const std::vector<int>& group) {
    std::vector<bool> is_there(group.size(), false);
    for (const int number : group) {
        if (number < 0 || at(number) >= group.size()) {
            return false;
        }
        is_there[at(number)] = true;
    }
    return std::ranges::is_sorted(is_there, std::ranges::greater{});
}

} // namespace

std::string trouble_with(std::span<const GivenLevel> levels, std::span<const Pu> pus) {
    for (std::size_t i = 0; i < levels.size(); ++i) {
        const GivenLevel& level = levels[i];
        if (level.name.empty()) {
            return fmt::format("level {} has no name", i);
        }
        if (level.group.size() != pus.size() || !is_dense(level.group)) {
            return fmt::format("level \"{}\" needs a number of its group for each PU, dense from 0",
                               level.name);
        }
        const auto earlier = levels.first(i);
        if (std::ranges::find(earlier, level.name, &GivenLevel::name) != earlier.end()) {
            return fmt::format("level \"{}\" is there twice", level.name);
        }
        const auto outside = i == 0 ? std::nullopt : first_outside(levels[i - 1], level);
        if (outside) {
            return fmt::format("the group of CPU {} in level \"{}\" is not within one group of "
                               "level \"{}\", which comes before it: levels go from coarse to fine",
                               pus[*outside].cpu, level.name, levels[i - 1].name);
        }
    }
    return "";
}

void set_levels(Machine& machine, std::string_view levels) {
    if (levels.empty()) {
        refuse("no levels are given; \"none\" makes all CPUs one group");
    }
    if (is_file(levels)) {
        machine.levels = parse_file(
            levels, [&machine](std::string_view text) { return levels_from_json(text, machine); });
        return;
    }
    std::vector<GivenLevel> named = by_names(machine, levels);
    require_right(named, machine);
    machine.levels = std::move(named);
}

} // namespace corymb

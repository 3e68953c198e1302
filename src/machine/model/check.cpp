// SPDX-License-Identifier: Apache-2.0
// Every invariant of a machine model in one place. Field names are those of the JSON form, so that
// an error text leads a person to the line of the file.
#include "machine/model/given_levels.hpp"

#include <corymb/error.hpp>
#include <corymb/machine.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <string_view>
#include <unordered_set>
#include <utility>

namespace corymb {

namespace {

[[noreturn]] void fail(std::string_view field, std::string_view what) {
    throw Error(Errc::invalid_model, fmt::format("{}: {}", field, what));
}

/// Not for NaN: that is "missing", which the caller decides on.
void check_range(std::string_view field, double value, double least, double most) {
    if (!(value >= least && value <= most)) {
        fail(field, fmt::format("must be from {} to {}, is {}", least, most, value));
    }
}

void check_not_negative(std::string_view field, double value) {
    if (!(value >= 0 && std::isfinite(value))) {
        fail(field, fmt::format("must be a number >= 0, is {}", value));
    }
}

/// A quarter of an hour in nanoseconds. No message takes that long, and sums of shorter times keep
/// their digits.
constexpr double time_max = 1e12;

void check_time(std::string_view field, double value) {
    check_not_negative(field, value);
    if (value > time_max) {
        fail(field, fmt::format("must be at most {:g}, is {:g}", time_max, value));
    }
}

void check_correlation(std::string_view field, double value) {
    if (!std::isnan(value)) {
        check_range(field, value, -1, 1);
    }
}

/// Numbers are 0, 1, ... without a hole; -1 is allowed where `unknown_allowed`.
void check_dense(const std::vector<int>& numbers, bool unknown_allowed,
                 const std::string& field_format) {
    const auto field = [&](std::size_t i) {
        return fmt::format(fmt::runtime(field_format), i);
    };
    std::vector<bool> used(numbers.size());
    int largest = -1;
    for (std::size_t i = 0; i < numbers.size(); ++i) {
        const int number = numbers[i];
        const int least = unknown_allowed ? -1 : 0;
        if (number < least || number >= static_cast<int>(numbers.size())) {
            fail(field(i),
                 fmt::format("must be from {} to {}, is {}", least, numbers.size() - 1, number));
        }
        if (number >= 0) {
            used[static_cast<std::size_t>(number)] = true;
            largest = std::max(largest, number);
        }
    }
    const auto hole = std::find(used.begin(), used.begin() + (largest + 1), false) - used.begin();
    if (hole <= largest) {
        const auto at = std::find(numbers.begin(), numbers.end(), largest) - numbers.begin();
        fail(field(static_cast<std::size_t>(at)),
             fmt::format("is {}, but no PU has {}: numbers must be dense from 0", largest, hole));
    }
}

void check_topology(const Topology& topology) {
    constexpr std::size_t pus_max = 16384;
    const std::vector<Pu>& pus = topology.pus;
    if (pus.empty() || pus.size() > pus_max) {
        fail("topology.pus", fmt::format("must have 1 to {} PUs, has {}", pus_max, pus.size()));
    }
    std::unordered_set<int> cpus;
    for (std::size_t i = 0; i < pus.size(); ++i) {
        const std::string field = fmt::format("topology.pus[{}].cpu", i);
        if (pus[i].cpu < 0) {
            fail(field, fmt::format("must be >= 0, is {}", pus[i].cpu));
        }
        if (!cpus.insert(pus[i].cpu).second) {
            fail(field, fmt::format("{} stands twice", pus[i].cpu));
        }
        if (pus[i].kind < -1) {
            fail(fmt::format("topology.pus[{}].kind", i),
                 fmt::format("must be >= -1, is {}", pus[i].kind));
        }
    }
    const std::pair<const char*, int Pu::*> levels[] = {
        {"core", &Pu::core}, {"l2", &Pu::l2},           {"l3", &Pu::l3},
        {"die", &Pu::die},   {"package", &Pu::package}, {"numa", &Pu::numa}};
    for (const auto& [name, member] : levels) {
        std::vector<int> numbers;
        numbers.reserve(pus.size());
        for (const Pu& pu : pus) {
            numbers.push_back(pu.*member);
        }
        check_dense(numbers, true, std::string("topology.pus[{}].") + name);
    }
}

void check_statistic(const std::string& field, const Statistic& statistic) {
    if (statistic.count < 0) {
        fail(field + ".count", fmt::format("must be >= 0, is {}", statistic.count));
    }
    const std::pair<const char*, double> values[] = {
        {".median", statistic.median}, {".q25", statistic.q25}, {".q75", statistic.q75}};
    for (const auto& [name, value] : values) {
        if (statistic.count > 0) {
            check_time(field + name, value);
        } else if (!std::isnan(value)) {
            fail(field + name, fmt::format("must be missing since count is 0, is {}", value));
        }
    }
    if (statistic.q25 > statistic.median || statistic.median > statistic.q75) {
        fail(field + ".median", fmt::format("must lie between q25 and q75: {} <= {} <= {}",
                                            statistic.q25, statistic.median, statistic.q75));
    }
}

void check_classes(const std::vector<PairClass>& classes) {
    for (std::size_t i = 0; i < classes.size(); ++i) {
        const PairClass& pair_class = classes[i];
        const std::string field = fmt::format("classes[{}]", i);
        if (pair_class.name.empty()) {
            fail(field + ".name", "must not be empty");
        }
        check_statistic(field + ".send", pair_class.send);
        check_statistic(field + ".receive", pair_class.receive);
        check_statistic(field + ".round_trip", pair_class.round_trip);
        check_correlation(field + ".reliability", pair_class.reliability);
        if (pair_class.pairs_sampled < 0) {
            fail(field + ".pairs_sampled",
                 fmt::format("must be >= 0, is {}", pair_class.pairs_sampled));
        }
    }
}

/// Each pair of PUs must find a class, and that class must know its costs.
void check_groups(const Machine& machine) {
    if (machine.group.size() != machine.topology.pus.size()) {
        fail("group", fmt::format("must have {} entries, one a PU, has {}",
                                  machine.topology.pus.size(), machine.group.size()));
    }
    check_dense(machine.group, false, "group[{}]");
    const auto groups =
        static_cast<std::size_t>(*std::max_element(machine.group.begin(), machine.group.end()) + 1);
    if (machine.group_class.size() != groups * groups) {
        fail("group_class", fmt::format("must have {} x {} entries, has {}", groups, groups,
                                        machine.group_class.size()));
    }
    std::vector<int> members(groups);
    for (const int group : machine.group) {
        ++members[static_cast<std::size_t>(group)];
    }
    for (std::size_t from = 0; from < groups; ++from) {
        for (std::size_t to = 0; to < groups; ++to) {
            const int number = machine.group_class[from * groups + to];
            if (number == -1 && from == to && members[from] == 1) {
                continue; // No pair is in there.
            }
            const auto field = [&] {
                return fmt::format("group_class[{}][{}]", from, to);
            };
            if (number < 0 || number >= static_cast<int>(machine.classes.size())) {
                fail(field(),
                     fmt::format("must be the index of one of the {} classes{}, is {}",
                                 machine.classes.size(),
                                 from == to ? ", or null for a group of one PU" : "", number));
            }
            const PairClass& pair_class = machine.classes[static_cast<std::size_t>(number)];
            if (!pair_class.send.present() || !pair_class.receive.present()) {
                fail(fmt::format("classes[{}].{}", number,
                                 pair_class.send.present() ? "receive" : "send"),
                     fmt::format("is missing, but {} needs it", field()));
            }
        }
    }
}

void check_matrix(const char* name, const std::vector<float>& matrix, std::size_t size) {
    if (matrix.size() != size * size) {
        fail(name, fmt::format("must have {} x {} entries, has {}", size, size, matrix.size()));
    }
    for (std::size_t i = 0; i < matrix.size(); ++i) {
        const float value = matrix[i];
        const bool diagonal = i / size == i % size;
        if (std::isnan(value) || value == 0) {
            continue;
        }
        const std::string field = fmt::format("{}[{}][{}]", name, i / size, i % size);
        if (diagonal) {
            fail(field, fmt::format("must be 0 or null, is {}", value));
        }
        check_time(field, static_cast<double>(value));
    }
}

void check_points(const std::string& field, const std::vector<int>& count,
                  const std::vector<double>& value) {
    if (count.empty() || count.size() != value.size()) {
        fail(field, fmt::format("count and value must have the same number of entries, and at "
                                "least one; have {} and {}",
                                count.size(), value.size()));
    }
    for (std::size_t k = 0; k < count.size(); ++k) {
        if (count[k] <= (k == 0 ? 0 : count[k - 1])) {
            fail(fmt::format("{}.count[{}]", field, k),
                 fmt::format("must be >= 1 and grow, is {}", count[k]));
        }
        check_time(fmt::format("{}.value[{}]", field, k), value[k]);
    }
}

void check_curves(const char* name, const std::vector<Curve>& curves, std::size_t classes) {
    for (std::size_t i = 0; i < curves.size(); ++i) {
        const Curve& curve = curves[i];
        const std::string field = fmt::format("{}[{}]", name, i);
        if (curve.pair_class < 0 || static_cast<std::size_t>(curve.pair_class) >= classes) {
            fail(field + ".pair_class", fmt::format("must be the index of one of the {} classes, "
                                                    "is {}",
                                                    classes, curve.pair_class));
        }
        check_points(field, curve.count, curve.value);
    }
}

/// A rate of nothing would be a copy that never ends.
void check_shared(const std::vector<SharedResource>& shared) {
    for (std::size_t i = 0; i < shared.size(); ++i) {
        const SharedResource& resource = shared[i];
        const std::string field = fmt::format("shared[{}]", i);
        check_points(field, resource.count, resource.value);
        const bool is_word = resource.use == SharedUse::word;
        if (resource.from_bytes < 0 || (is_word && resource.from_bytes > 0)) {
            fail(field + ".from_bytes",
                 fmt::format("must be {}, is {}", is_word ? "0" : ">= 0", resource.from_bytes));
        }
        for (std::size_t k = 0; k < resource.value.size() && !is_word; ++k) {
            if (!(resource.value[k] > 0)) {
                fail(fmt::format("{}.value[{}]", field, k),
                     "must be above 0: it is 10^9 bytes per second");
            }
        }
        if (resource.use == SharedUse::copies_between && resource.scope == Scope::machine) {
            fail(field + ".scope", "must not be \"machine\": copies have to go between two parts");
        }
    }
}

void check_memory(const std::vector<MemoryLevel>& memory) {
    for (std::size_t i = 0; i < memory.size(); ++i) {
        const std::string field = fmt::format("memory[{}]", i);
        if (memory[i].level.empty()) {
            fail(field + ".level", "must not be empty");
        }
        if (memory[i].working_set_bytes <= 0) {
            fail(field + ".working_set_bytes",
                 fmt::format("must be > 0, is {}", memory[i].working_set_bytes));
        }
        check_not_negative(field + ".read_gbs", memory[i].read_gbs);
        check_not_negative(field + ".write_gbs", memory[i].write_gbs);
        check_not_negative(field + ".copy_gbs", memory[i].copy_gbs);
    }
}

void check_access(const AccessModel& access, std::size_t classes) {
    if (!access.present()) {
        return;
    }
    if (access.classes.size() != classes) {
        fail("access.classes", fmt::format("must have {} entries, one a class, has {}", classes,
                                           access.classes.size()));
    }
    check_range("access.line_bytes", access.line_bytes, 8, 4096);
    check_time("access.look", access.look);
    const auto check_one = [](const std::string& field, const AccessCosts& costs) {
        for (const auto& [name, cost] :
             {std::pair{".word", costs.word}, std::pair{".line", costs.line}}) {
            check_time(field + name + ".write", cost.write);
            check_time(field + name + ".gap", cost.gap);
            check_time(field + name + ".read", cost.read);
        }
    };
    check_one("access.own", access.own);
    for (std::size_t i = 0; i < classes; ++i) {
        check_one(fmt::format("access.classes[{}]", i), access.classes[i]);
    }
}

void check_quality(const Quality& quality) {
    check_range("quality.dropped_batches", quality.dropped_batches, 0, 1);
    check_range("quality.steal", quality.steal, 0, 1);
    check_correlation("quality.split_half_r", quality.split_half_r);
    check_not_negative("quality.duration_s", quality.duration_s);
    check_not_negative("quality.budget_s", quality.budget_s);
}

void check_unit(const Machine& machine) {
    if (machine.unit == TimeUnit::nanoseconds && machine.unit_ns != 1.0) {
        fail("unit_ns", fmt::format("must be 1 since the unit is ns, is {}", machine.unit_ns));
    }
    if (!std::isnan(machine.unit_ns) && !(machine.unit_ns > 0 && std::isfinite(machine.unit_ns))) {
        fail("unit_ns", fmt::format("must be > 0 or null, is {}", machine.unit_ns));
    }
}

void check_hash(const std::string& hash) {
    const auto is_hex = [](char c) {
        return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f');
    };
    if (!hash.empty() && (hash.size() != 64 || !std::all_of(hash.begin(), hash.end(), is_hex))) {
        fail("fingerprint.topology_sha256", "must be 64 lower-case hex digits, or empty");
    }
}

} // namespace

void Machine::check() const {
    check_unit(*this);
    check_hash(fingerprint.topology_sha256);
    check_topology(topology);
    check_classes(classes);
    check_groups(*this);
    if (send.empty() != receive.empty()) {
        fail(send.empty() ? "send" : "receive", "is missing: a model has both matrices or none");
    }
    if (has_matrix()) {
        check_matrix("send", send, topology.pus.size());
        check_matrix("receive", receive, topology.pus.size());
    }
    check_curves("send_batch", send_batch, classes.size());
    check_curves("fan_out", fan_out, classes.size());
    check_curves("receive_batch", receive_batch, classes.size());
    check_curves("shared_line", shared_line, classes.size());
    check_curves("exchange", exchange, classes.size());
    check_curves("transfer", transfer, classes.size());
    check_curves("fresh", fresh, classes.size());
    check_curves("rewrite", rewrite, classes.size());
    check_curves("message", message, classes.size());
    check_memory(memory);
    check_shared(shared);
    if (const std::string trouble = trouble_with(levels, topology.pus); !trouble.empty()) {
        fail("levels", trouble);
    }
    check_access(access, classes.size());
    check_time("step_overhead", step_overhead);
    check_quality(quality);
}

} // namespace corymb

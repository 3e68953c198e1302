// SPDX-License-Identifier: Apache-2.0
// The writing half of the file format "corymb-machine/1" (docs/explain/model.md).
#include "base/json.hpp"
#include "machine/model/shared_names.hpp"

#include <corymb/machine.hpp>

#include <nlohmann/json.hpp>

#include <charconv>
#include <cmath>

namespace corymb {

namespace {

using nlohmann::ordered_json;

/// -1, "unknown", is null in the file.
ordered_json number_or_null(int number) {
    return number < 0 ? ordered_json() : ordered_json(number);
}

/// The double that is written with the fewest digits and still reads back as this float: 17.8, not
/// 17.799999237060547. Whole numbers need no decimal point.
ordered_json shortest(float value) {
    if (std::isnan(value)) {
        return nullptr;
    }
    constexpr float whole_max = 1 << 24;
    if (value < whole_max && value == std::floor(value) && !std::signbit(value)) {
        return static_cast<int>(value);
    }
    char text[64];
    const auto written = std::to_chars(text, text + sizeof text, value);
    double wide = 0;
    std::from_chars(text, written.ptr, wide);
    return static_cast<float>(wide) == value ? wide : static_cast<double>(value);
}

ordered_json matrix(const std::vector<float>& values, std::size_t width) {
    ordered_json rows = ordered_json::array();
    for (std::size_t start = 0; start < values.size(); start += width) {
        ordered_json row = ordered_json::array();
        row.get_ref<ordered_json::array_t&>().reserve(width);
        for (std::size_t i = start; i < start + width; ++i) {
            row.push_back(shortest(values[i]));
        }
        rows.push_back(std::move(row));
    }
    return rows;
}

ordered_json table(const std::vector<int>& values, std::size_t width) {
    ordered_json rows = ordered_json::array();
    for (std::size_t start = 0; start < values.size(); start += width) {
        ordered_json row = ordered_json::array();
        for (std::size_t i = start; i < start + width; ++i) {
            row.push_back(number_or_null(values[i]));
        }
        rows.push_back(std::move(row));
    }
    return rows;
}

ordered_json statistic(const Statistic& value) {
    if (!value.present()) {
        return nullptr;
    }
    return {
        {"median", value.median}, {"q25", value.q25}, {"q75", value.q75}, {"count", value.count}};
}

ordered_json pair_classes(const std::vector<PairClass>& classes) {
    ordered_json out = ordered_json::array();
    for (const PairClass& of : classes) {
        out.push_back({{"name", of.name},
                       {"send", statistic(of.send)},
                       {"receive", statistic(of.receive)},
                       {"round_trip", statistic(of.round_trip)},
                       {"reliability", of.reliability},
                       {"pairs_sampled", of.pairs_sampled}});
    }
    return out;
}

ordered_json topology_json(const Topology& topology) {
    ordered_json pus = ordered_json::array();
    for (const Pu& pu : topology.pus) {
        pus.push_back({{"cpu", pu.cpu},
                       {"core", number_or_null(pu.core)},
                       {"l2", number_or_null(pu.l2)},
                       {"l3", number_or_null(pu.l3)},
                       {"die", number_or_null(pu.die)},
                       {"package", number_or_null(pu.package)},
                       {"numa", number_or_null(pu.numa)},
                       {"kind", number_or_null(pu.kind)}});
    }
    return {{"source", topology.source},
            {"disagreements", topology.disagreements},
            {"pus", std::move(pus)}};
}

ordered_json curves(const std::vector<Curve>& of) {
    ordered_json out = ordered_json::array();
    for (const Curve& curve : of) {
        out.push_back(
            {{"pair_class", curve.pair_class}, {"count", curve.count}, {"value", curve.value}});
    }
    return out;
}

ordered_json memory_levels(const std::vector<MemoryLevel>& memory) {
    ordered_json out = ordered_json::array();
    for (const MemoryLevel& of : memory) {
        out.push_back({{"level", of.level},
                       {"working_set_bytes", of.working_set_bytes},
                       {"read_gbs", of.read_gbs},
                       {"write_gbs", of.write_gbs},
                       {"copy_gbs", of.copy_gbs}});
    }
    return out;
}

ordered_json shared_resources(const std::vector<SharedResource>& shared) {
    ordered_json out = ordered_json::array();
    for (const SharedResource& of : shared) {
        out.push_back({{"use", name_of(of.use, shared_use_names)},
                       {"scope", name_of(of.scope, scope_names)},
                       {"origin", name_of(of.origin, data_origin_names)},
                       {"from_bytes", of.from_bytes},
                       {"count", of.count},
                       {"value", of.value}});
    }
    return out;
}

ordered_json access_costs(const AccessCosts& of) {
    const auto cost = [](const AccessCost& one) -> ordered_json {
        return {{"write", one.write}, {"gap", one.gap}, {"read", one.read}};
    };
    return {{"word", cost(of.word)}, {"line", cost(of.line)}};
}

ordered_json access_json(const AccessModel& of) {
    ordered_json classes = ordered_json::array();
    for (const AccessCosts& costs : of.classes) {
        classes.push_back(access_costs(costs));
    }
    return {{"line_bytes", of.line_bytes},
            {"look", of.look},
            {"own", access_costs(of.own)},
            {"classes", std::move(classes)}};
}

ordered_json levels_json(const std::vector<GivenLevel>& levels) {
    ordered_json out = ordered_json::array();
    for (const GivenLevel& level : levels) {
        out.push_back({{"name", level.name}, {"group", level.group}});
    }
    return out;
}

ordered_json fingerprint_json(const Fingerprint& of) {
    return {{"cpu", of.cpu},       {"topology_sha256", of.topology_sha256}, {"cpuset", of.cpuset},
            {"kernel", of.kernel}, {"virtualization", of.virtualization},   {"smt", of.smt}};
}

ordered_json quality_json(const Quality& of) {
    return {{"noisy", of.noisy},           {"unstable_topology", of.unstable_topology},
            {"pinned", of.pinned},         {"dropped_batches", of.dropped_batches},
            {"steal", of.steal},           {"split_half_r", of.split_half_r},
            {"duration_s", of.duration_s}, {"budget_s", of.budget_s},
            {"remarks", of.remarks}};
}

} // namespace

std::string to_json(const Machine& machine) {
    machine.check(); // What cannot be read back is not written.
    const std::size_t size = machine.topology.pus.size();
    ordered_json out;
    out["schema"] = "corymb-machine/1";
    out["name"] = machine.name;
    out["source"] = machine.source;
    out["created"] = machine.created;
    out["assumption"] = machine.assumption;
    out["unit"] = machine.unit == TimeUnit::nanoseconds ? "ns" : "cycles";
    out["unit_ns"] = machine.unit_ns;
    out["fingerprint"] = fingerprint_json(machine.fingerprint);
    out["quality"] = quality_json(machine.quality);
    out["topology"] = topology_json(machine.topology);
    out["classes"] = pair_classes(machine.classes);
    out["group"] = machine.group;
    out["group_class"] =
        table(machine.group_class, static_cast<std::size_t>(machine.group_count()));
    out["send"] = machine.has_matrix() ? matrix(machine.send, size) : ordered_json();
    out["receive"] = machine.has_matrix() ? matrix(machine.receive, size) : ordered_json();
    out["send_batch"] = curves(machine.send_batch);
    out["fan_out"] = curves(machine.fan_out);
    out["receive_batch"] = curves(machine.receive_batch);
    out["shared_line"] = curves(machine.shared_line);
    out["exchange"] = curves(machine.exchange);
    // What few models have is left out of the others, whose identity would change.
    const std::pair<const char*, const std::vector<Curve>&> rare[] = {
        {"transfer", machine.transfer},
        {"fresh", machine.fresh},
        {"rewrite", machine.rewrite},
        {"message", machine.message}};
    for (const auto& [key, of] : rare) {
        if (!of.empty()) {
            out[key] = curves(of);
        }
    }
    out["memory"] = memory_levels(machine.memory);
    if (!machine.shared.empty()) {
        out["shared"] = shared_resources(machine.shared);
    }
    if (!machine.levels.empty()) {
        out["levels"] = levels_json(machine.levels);
    }
    if (machine.access.present()) {
        out["access"] = access_json(machine.access);
    }
    out["step_overhead"] = machine.step_overhead;
    return dump_json(out);
}

} // namespace corymb

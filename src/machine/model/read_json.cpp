// SPDX-License-Identifier: Apache-2.0
// The reading half of the file format "corymb-machine/1" (docs/explain/model.md). Here every field
// gets its type and range; what fields must be among each other is left to Machine::check().
#include "base/json.hpp"
#include "machine/model/shared_names.hpp"

#include <corymb/machine.hpp>

#include <fmt/format.h>

#include <array>
#include <limits>

namespace corymb {

namespace {

constexpr std::int64_t count_max = std::int64_t{1} << 53; // What every JSON reader keeps exactly.
constexpr int int_max = std::numeric_limits<int>::max();

int number_or_unknown(const JsonView& view, std::string_view key) {
    const auto field = view.find(key);
    return field ? static_cast<int>(field->integer(0, int_max)) : -1;
}

std::string text_or_empty(const JsonView& view, std::string_view key) {
    const auto field = view.find(key);
    return field ? field->text() : "";
}

bool flag(const JsonView& view, std::string_view key, bool otherwise) {
    const auto field = view.find(key);
    return field ? field->boolean() : otherwise;
}

double number_or(const JsonView& view, std::string_view key, double least, double most,
                 double otherwise) {
    const auto field = view.find(key);
    return field ? field->number(least, most) : otherwise;
}

std::vector<std::string> texts_or_none(const JsonView& view, std::string_view key) {
    const auto field = view.find(key);
    return field ? field->texts() : std::vector<std::string>();
}

constexpr double huge = std::numeric_limits<double>::max();

Statistic statistic(const JsonView& pair_class, std::string_view key) {
    const auto field = pair_class.find(key);
    if (!field) {
        return {};
    }
    field->allow_only({"median", "q25", "q75", "count"});
    Statistic out;
    out.count = field->at("count").integer(1, count_max);
    out.median = field->at("median").number(0);
    out.q25 = field->at("q25").number(0);
    out.q75 = field->at("q75").number(0);
    return out;
}

std::vector<PairClass> pair_classes(const JsonView& view) {
    std::vector<PairClass> out(view.size());
    for (std::size_t i = 0; i < out.size(); ++i) {
        const JsonView field = view[i];
        field.allow_only({"name", "send", "receive", "round_trip", "reliability", "pairs_sampled"});
        out[i].name = field.at("name").text();
        out[i].send = statistic(field, "send");
        out[i].receive = statistic(field, "receive");
        out[i].round_trip = statistic(field, "round_trip");
        out[i].reliability = number_or(field, "reliability", -1, 1, Statistic::missing);
        const auto sampled = field.find("pairs_sampled");
        out[i].pairs_sampled = sampled ? sampled->integer(0, count_max) : 0;
    }
    return out;
}

Topology topology(const JsonView& view) {
    view.allow_only({"source", "disagreements", "pus"});
    Topology out;
    out.source = text_or_empty(view, "source");
    out.disagreements = texts_or_none(view, "disagreements");
    const JsonView pus = view.at("pus");
    out.pus.resize(pus.size());
    for (std::size_t i = 0; i < out.pus.size(); ++i) {
        const JsonView field = pus[i];
        field.allow_only({"cpu", "core", "l2", "l3", "die", "package", "numa", "kind"});
        Pu& pu = out.pus[i];
        pu.cpu = static_cast<int>(field.at("cpu").integer(0, int_max));
        pu.core = number_or_unknown(field, "core");
        pu.l2 = number_or_unknown(field, "l2");
        pu.l3 = number_or_unknown(field, "l3");
        pu.die = number_or_unknown(field, "die");
        pu.package = number_or_unknown(field, "package");
        pu.numa = number_or_unknown(field, "numa");
        pu.kind = number_or_unknown(field, "kind");
    }
    return out;
}

std::vector<int> group_table(const JsonView& view) {
    const std::size_t width = view.size();
    std::vector<int> out;
    for (std::size_t i = 0; i < width; ++i) {
        const JsonView row = view[i];
        if (row.size() != width) {
            row.fail(
                fmt::format("must have {} entries, as there are rows, has {}", width, row.size()));
        }
        for (std::size_t k = 0; k < width; ++k) {
            const JsonView entry = row[k];
            out.push_back(entry.is_null() ? -1 : static_cast<int>(entry.integer(0, int_max)));
        }
    }
    return out;
}

std::vector<float> matrix(const JsonView& root, std::string_view key, std::size_t width) {
    std::vector<float> out;
    if (const auto view = root.find(key)) {
        if (view->size() != width) {
            view->fail(fmt::format("must have {} rows, one a PU, has {}", width, view->size()));
        }
        for (std::size_t i = 0; i < width; ++i) {
            (*view)[i].append_row(out, width, 0);
        }
    }
    return out;
}

/// The value that the text names.
template <class Value, std::size_t size>
Value named(const JsonView& view, const std::array<Named<Value>, size>& names) {
    const std::string text = view.text();
    std::string known;
    for (const Named<Value>& one : names) {
        if (one.name == text) {
            return one.value;
        }
        known += fmt::format("{}\"{}\"", known.empty() ? "" : ", ", one.name);
    }
    view.fail("must be one of " + known);
}

std::vector<Curve> curves(const JsonView& root, std::string_view key) {
    const auto view = root.find(key);
    std::vector<Curve> out(view ? view->size() : 0);
    for (std::size_t i = 0; i < out.size(); ++i) {
        const JsonView field = (*view)[i];
        field.allow_only({"pair_class", "count", "value"});
        out[i].pair_class = static_cast<int>(field.at("pair_class").integer(0, int_max));
        out[i].count = field.at("count").integers(1);
        const JsonView values = field.at("value");
        for (std::size_t k = 0; k < values.size(); ++k) {
            out[i].value.push_back(values[k].number(0));
        }
    }
    return out;
}

std::vector<MemoryLevel> memory_levels(const JsonView& root) {
    const auto view = root.find("memory");
    std::vector<MemoryLevel> out(view ? view->size() : 0);
    for (std::size_t i = 0; i < out.size(); ++i) {
        const JsonView field = (*view)[i];
        field.allow_only({"level", "working_set_bytes", "read_gbs", "write_gbs", "copy_gbs"});
        out[i].level = field.at("level").text();
        out[i].working_set_bytes = field.at("working_set_bytes").integer(1, count_max);
        out[i].read_gbs = field.at("read_gbs").number(0);
        out[i].write_gbs = field.at("write_gbs").number(0);
        out[i].copy_gbs = field.at("copy_gbs").number(0);
    }
    return out;
}

std::vector<SharedResource> shared_resources(const JsonView& root) {
    const auto view = root.find("shared");
    std::vector<SharedResource> out(view ? view->size() : 0);
    for (std::size_t i = 0; i < out.size(); ++i) {
        const JsonView field = (*view)[i];
        field.allow_only({"use", "scope", "origin", "from_bytes", "count", "value"});
        out[i].use = named(field.at("use"), shared_use_names);
        out[i].scope = named(field.at("scope"), scope_names);
        out[i].origin = named(field.at("origin"), data_origin_names);
        const auto least = field.find("from_bytes");
        out[i].from_bytes = least ? least->integer(0, count_max) : 0;
        out[i].count = field.at("count").integers(1);
        const JsonView values = field.at("value");
        for (std::size_t k = 0; k < values.size(); ++k) {
            out[i].value.push_back(values[k].number(0));
        }
    }
    return out;
}

AccessCost access_cost(const JsonView& view) {
    view.allow_only({"write", "gap", "read"});
    return {view.at("write").number(0), view.at("gap").number(0), view.at("read").number(0)};
}

AccessCosts access_costs(const JsonView& view) {
    view.allow_only({"word", "line"});
    return {access_cost(view.at("word")), access_cost(view.at("line"))};
}

AccessModel access(const JsonView& view) {
    view.allow_only({"line_bytes", "look", "own", "classes"});
    AccessModel out;
    out.line_bytes = static_cast<int>(view.at("line_bytes").integer(1, int_max));
    out.look = number_or(view, "look", 0, huge, 0);
    out.own = access_costs(view.at("own"));
    const JsonView classes = view.at("classes");
    for (std::size_t i = 0; i < classes.size(); ++i) {
        out.classes.push_back(access_costs(classes[i]));
    }
    return out;
}

Fingerprint fingerprint(const JsonView& view) {
    view.allow_only({"cpu", "topology_sha256", "cpuset", "kernel", "virtualization", "smt"});
    Fingerprint out;
    out.cpu = text_or_empty(view, "cpu");
    out.topology_sha256 = text_or_empty(view, "topology_sha256");
    out.cpuset = text_or_empty(view, "cpuset");
    out.kernel = text_or_empty(view, "kernel");
    out.virtualization = text_or_empty(view, "virtualization");
    out.smt = flag(view, "smt", false);
    return out;
}

Quality quality(const JsonView& view) {
    view.allow_only({"noisy", "unstable_topology", "pinned", "dropped_batches", "steal",
                     "split_half_r", "duration_s", "budget_s", "remarks"});
    Quality out;
    out.noisy = flag(view, "noisy", out.noisy);
    out.unstable_topology = flag(view, "unstable_topology", out.unstable_topology);
    out.pinned = flag(view, "pinned", out.pinned);
    out.dropped_batches = number_or(view, "dropped_batches", 0, 1, 0);
    out.steal = number_or(view, "steal", 0, 1, 0);
    out.split_half_r = number_or(view, "split_half_r", -1, 1, Statistic::missing);
    out.duration_s = number_or(view, "duration_s", 0, huge, 0);
    out.budget_s = number_or(view, "budget_s", 0, huge, 0);
    out.remarks = texts_or_none(view, "remarks");
    return out;
}

void read_units(const JsonView& root, Machine& machine) {
    const JsonView unit = root.at("unit");
    const std::string name = unit.text();
    if (name != "ns" && name != "cycles") {
        unit.fail("must be \"ns\" or \"cycles\"");
    }
    machine.unit = name == "ns" ? TimeUnit::nanoseconds : TimeUnit::cycles;
    machine.unit_ns = number_or(root, "unit_ns", 0, huge, name == "ns" ? 1 : Statistic::missing);
}

void check_schema(const JsonView& root) {
    const JsonView schema = root.at("schema");
    if (schema.text() != "corymb-machine/1") {
        schema.fail("must be \"corymb-machine/1\"; this is no machine model, or one of another "
                    "version of corymb");
    }
}

std::vector<GivenLevel> given_levels(const JsonView& root) {
    std::vector<GivenLevel> levels;
    const auto list = root.find("levels");
    for (std::size_t i = 0; list && i < list->size(); ++i) {
        const JsonView level = (*list)[i];
        level.allow_only({"name", "group"});
        levels.push_back({level.at("name").text(), level.at("group").integers(0)});
    }
    return levels;
}

} // namespace

Machine machine_from_json(std::string_view text) {
    const JsonDocument document(text, Errc::invalid_model);
    const JsonView root = document.root();
    check_schema(root); // First: the other complaints make no sense about another kind of file.
    root.allow_only({"schema",     "name",    "source",        "created",      "assumption",
                     "unit",       "unit_ns", "fingerprint",   "quality",      "topology",
                     "classes",    "group",   "group_class",   "send",         "receive",
                     "send_batch", "fan_out", "receive_batch", "shared_line",  "exchange",
                     "transfer",   "fresh",   "rewrite",       "message",      "memory",
                     "shared",     "levels",  "access",        "step_overhead"});
    Machine machine;
    machine.name = text_or_empty(root, "name");
    machine.source = text_or_empty(root, "source");
    machine.created = text_or_empty(root, "created");
    machine.assumption = text_or_empty(root, "assumption");
    read_units(root, machine);
    if (const auto view = root.find("fingerprint")) {
        machine.fingerprint = fingerprint(*view);
    }
    if (const auto view = root.find("quality")) {
        machine.quality = quality(*view);
    }
    machine.topology = topology(root.at("topology"));
    machine.classes = pair_classes(root.at("classes"));
    machine.group = root.at("group").integers(0);
    machine.group_class = group_table(root.at("group_class"));
    machine.send = matrix(root, "send", machine.topology.pus.size());
    machine.receive = matrix(root, "receive", machine.topology.pus.size());
    machine.send_batch = curves(root, "send_batch");
    machine.fan_out = curves(root, "fan_out");
    machine.receive_batch = curves(root, "receive_batch");
    machine.shared_line = curves(root, "shared_line");
    machine.exchange = curves(root, "exchange");
    machine.transfer = curves(root, "transfer");
    machine.fresh = curves(root, "fresh");
    machine.rewrite = curves(root, "rewrite");
    machine.message = curves(root, "message");
    machine.memory = memory_levels(root);
    machine.shared = shared_resources(root);
    machine.levels = given_levels(root);
    if (const auto view = root.find("access")) {
        machine.access = access(*view);
    }
    machine.step_overhead = number_or(root, "step_overhead", 0, huge, 0);
    machine.check();
    return machine;
}

} // namespace corymb

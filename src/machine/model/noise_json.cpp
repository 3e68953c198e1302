// SPDX-License-Identifier: Apache-2.0
// The file format "corymb-noise/1" (docs/explain/noise.md).
#include "base/file.hpp"
#include "base/json.hpp"

#include <corymb/noise.hpp>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <limits>

namespace corymb {

namespace {

constexpr const char* noise_schema = "corymb-noise/1";

std::string text_or_empty(const JsonView& view, std::string_view key) {
    const auto field = view.find(key);
    return field ? field->text() : "";
}

/// Two numbers.
std::pair<double, double> pair_of(const JsonView& view) {
    if (view.size() != 2) {
        view.fail("must be two numbers of nanoseconds");
    }
    return {view[0].number(), view[1].number()};
}

/// The length of stretches that follow each other from 0 on.
double recorded_ns(const JsonView& stretches) {
    double end_ns = 0;
    if (stretches.size() == 0) {
        stretches.fail("must have at least one stretch");
    }
    for (std::size_t i = 0; i < stretches.size(); ++i) {
        const auto [begin, end] = pair_of(stretches[i]);
        if (begin != end_ns) {
            stretches[i].fail(fmt::format("begins at {} ns, but the time before it ends at {}; a "
                                          "recording has no {}",
                                          begin, end_ns, begin > end_ns ? "gap" : "overlap"));
        }
        if (!(end > begin)) {
            stretches[i].fail(fmt::format("must end after its begin, {} ns", begin));
        }
        end_ns = end;
    }
    return end_ns;
}

CpuNoise cpu_of(const JsonView& view) {
    view.allow_only({"cpu", "recorded", "interruptions"});
    CpuNoise cpu;
    cpu.cpu = static_cast<int>(view.at("cpu").integer(0, std::numeric_limits<int>::max()));
    cpu.recorded_ns = recorded_ns(view.at("recorded"));
    const JsonView interruptions = view.at("interruptions");
    cpu.interruptions.reserve(interruptions.size());
    for (std::size_t i = 0; i < interruptions.size(); ++i) {
        const auto [begin, length] = pair_of(interruptions[i]);
        cpu.interruptions.push_back({begin, length});
    }
    return cpu;
}

} // namespace

NoiseTrace noise_trace_from_json(std::string_view text) {
    const JsonDocument document(text, Errc::invalid_model);
    const JsonView root = document.root();
    const JsonView schema = root.at("schema");
    if (schema.text() != noise_schema) {
        schema.fail("must be \"corymb-noise/1\"; this is no recording of noise, or one of another "
                    "version");
    }
    root.allow_only({"schema", "name", "source", "created", "threshold_ns", "cpus"});
    NoiseTrace trace;
    trace.name = text_or_empty(root, "name");
    trace.source = text_or_empty(root, "source");
    trace.created = text_or_empty(root, "created");
    if (const auto threshold = root.find("threshold_ns")) {
        trace.threshold_ns = threshold->number();
    }
    const JsonView cpus = root.at("cpus");
    for (std::size_t i = 0; i < cpus.size(); ++i) {
        trace.cpus.push_back(cpu_of(cpus[i]));
    }
    trace.check();
    return trace;
}

NoiseTrace load_noise_trace(const std::filesystem::path& file) {
    return parse_file(file, noise_trace_from_json);
}

std::string to_json(const NoiseTrace& trace) {
    using nlohmann::ordered_json;
    trace.check();
    ordered_json cpus = ordered_json::array();
    for (const CpuNoise& cpu : trace.cpus) {
        ordered_json interruptions = ordered_json::array();
        for (const Interruption& one : cpu.interruptions) {
            interruptions.push_back({one.begin_ns, one.length_ns});
        }
        cpus.push_back({{"cpu", cpu.cpu},
                        {"recorded", ordered_json::array({{0, cpu.recorded_ns}})},
                        {"interruptions", std::move(interruptions)}});
    }
    return dump_json(ordered_json{{"schema", noise_schema},
                                  {"name", trace.name},
                                  {"source", trace.source},
                                  {"created", trace.created},
                                  {"threshold_ns", trace.threshold_ns},
                                  {"cpus", std::move(cpus)}});
}

} // namespace corymb

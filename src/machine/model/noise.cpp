// SPDX-License-Identifier: Apache-2.0
#include <corymb/error.hpp>
#include <corymb/noise.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstddef>
#include <optional>
#include <set>
#include <system_error>
#include <utility>

namespace corymb {

namespace {

constexpr double time_most_ns = 1e18; // 30 years.

[[noreturn]] void refuse_trace(const std::string& path, const std::string& what) {
    throw Error(Errc::invalid_model, path + ": " + what);
}

void check_time(const std::string& path, double value, bool may_be_zero) {
    if (!(value <= time_most_ns) || value < 0 || (value == 0 && !may_be_zero)) {
        refuse_trace(path,
                     fmt::format("must be {} and at most {:g} ns, is {}",
                                 may_be_zero ? "at least 0" : "more than 0", time_most_ns, value));
    }
}

void check_interruptions(const CpuNoise& cpu, const std::string& path) {
    double free_from = 0;
    double lost = 0;
    for (std::size_t i = 0; i < cpu.interruptions.size(); ++i) {
        const Interruption& one = cpu.interruptions[i];
        const std::string here = fmt::format("{}.interruptions[{}]", path, i);
        check_time(here + "[0]", one.begin_ns, true);
        check_time(here + "[1]", one.length_ns, false);
        if (one.begin_ns < free_from) {
            const double before = cpu.interruptions[i - 1].begin_ns;
            refuse_trace(here, one.begin_ns < before
                                   ? fmt::format("begins at {} ns, before the one ahead of it, at "
                                                 "{} ns; sort them",
                                                 one.begin_ns, before)
                                   : fmt::format("begins at {} ns and overlaps the one ahead of "
                                                 "it, which ends at {} ns",
                                                 one.begin_ns, free_from));
        }
        free_from = one.begin_ns + one.length_ns;
        lost += one.length_ns;
        if (free_from > cpu.recorded_ns) {
            refuse_trace(here, fmt::format("ends at {} ns, after the recording, which ends at {}",
                                           free_from, cpu.recorded_ns));
        }
    }
    if (lost >= cpu.recorded_ns) {
        refuse_trace(path + ".interruptions", "leave no time in which the CPU runs");
    }
}

[[noreturn]] void refuse(const std::string& what) {
    throw Error(Errc::invalid_argument, what);
}

/// `field` names the time in errors.
void check_noise_time(const char* field, double value) {
    if (!(value > 0) || value > time_most_ns) {
        refuse(fmt::format("noise: {} must be more than 0 and at most {:g} ns, is {}", field,
                           time_most_ns, value));
    }
}

void check(const PeriodicNoise& noise) {
    check_noise_time("the period", noise.period_ns);
    check_noise_time("the length", noise.length_ns);
    if (noise.length_ns >= noise.period_ns) {
        refuse(fmt::format("noise: interruptions of {} ns leave no time in a period of {} ns",
                           noise.length_ns, noise.period_ns));
    }
    for (const double phase : noise.phases_ns) {
        if (!(phase >= 0 && phase < noise.period_ns)) {
            refuse(fmt::format("noise: phase {} ns is not within the period of {} ns", phase,
                               noise.period_ns));
        }
    }
}

void check(const RandomNoise& noise) {
    check_noise_time("the mean gap", noise.gap_ns);
    check_noise_time("the mean length", noise.length_ns);
}

constexpr std::array<std::pair<std::string_view, NoiseLengths>, 3> length_names{
    {{"constant", NoiseLengths::constant},
     {"uniform", NoiseLengths::uniform},
     {"exponential", NoiseLengths::exponential}}};

std::string_view name_of(NoiseLengths lengths) {
    return length_names.at(static_cast<std::size_t>(lengths)).first;
}

struct Totals {
    double recorded_ns = 0;
    double lost_ns = 0;
    std::vector<double> lengths;
};

Totals totals_of(const NoiseTrace& trace) {
    Totals totals;
    for (const CpuNoise& cpu : trace.cpus) {
        totals.recorded_ns += cpu.recorded_ns;
        for (const Interruption& one : cpu.interruptions) {
            totals.lost_ns += one.length_ns;
            totals.lengths.push_back(one.length_ns);
        }
    }
    return totals;
}

/// The parts of a text between colons.
std::vector<std::string_view> parts_of(std::string_view text) {
    std::vector<std::string_view> parts;
    for (std::size_t begin = 0; begin <= text.size();) {
        const std::size_t end = std::min(text.find(':', begin), text.size());
        parts.push_back(text.substr(begin, end - begin));
        begin = end + 1;
    }
    return parts;
}

double time_from(std::string_view text, std::string_view whole) {
    double value = 0;
    const auto [stop, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc{} || stop != text.data() + text.size()) {
        refuse(fmt::format("noise \"{}\": \"{}\" is no number of nanoseconds", whole.substr(0, 60),
                           text.substr(0, 30)));
    }
    return value;
}

} // namespace

void NoiseTrace::check() const {
    check_time("threshold_ns", threshold_ns, true);
    if (cpus.empty()) {
        refuse_trace("cpus", "must name at least one CPU");
    }
    std::set<int> known;
    for (std::size_t i = 0; i < cpus.size(); ++i) {
        const std::string path = fmt::format("cpus[{}]", i);
        if (cpus[i].cpu < 0 || !known.insert(cpus[i].cpu).second) {
            refuse_trace(path + ".cpu", fmt::format("{} is negative or occurs twice", cpus[i].cpu));
        }
        check_time(path + ".recorded", cpus[i].recorded_ns, false);
        check_interruptions(cpus[i], path);
    }
}

NoiseSummary summary_of(const NoiseTrace& trace) {
    Totals totals = totals_of(trace);
    NoiseSummary summary;
    if (totals.recorded_ns > 0) {
        summary.lost_share = totals.lost_ns / totals.recorded_ns;
        summary.rate_per_s = static_cast<double>(totals.lengths.size()) / totals.recorded_ns * 1e9;
    }
    if (!totals.lengths.empty()) {
        const auto middle =
            totals.lengths.begin() + static_cast<std::ptrdiff_t>(totals.lengths.size() / 2);
        std::ranges::nth_element(totals.lengths, middle);
        summary.median_ns = *middle;
        summary.longest_ns = *std::ranges::max_element(totals.lengths);
    }
    return summary;
}

Noise Noise::periodic(double period_ns, double length_ns, std::vector<double> phases_ns) {
    Noise noise;
    noise.source = PeriodicNoise{period_ns, length_ns, std::move(phases_ns)};
    return noise;
}

Noise Noise::random(double gap_ns, double length_ns, NoiseLengths lengths) {
    Noise noise;
    noise.source = RandomNoise{gap_ns, length_ns, lengths};
    return noise;
}

Noise Noise::recorded(NoiseTrace trace) {
    trace.check();
    Noise noise;
    noise.source = std::make_shared<const NoiseTrace>(std::move(trace));
    return noise;
}

double Noise::lost_share() const {
    if (const auto* periodic = std::get_if<PeriodicNoise>(&source)) {
        return periodic->length_ns / periodic->period_ns;
    }
    if (const auto* random = std::get_if<RandomNoise>(&source)) {
        return random->length_ns / (random->gap_ns + random->length_ns);
    }
    const auto* trace = std::get_if<std::shared_ptr<const NoiseTrace>>(&source);
    return trace != nullptr && *trace != nullptr ? summary_of(**trace).lost_share : 0;
}

std::string Noise::text() const {
    std::string text = "none";
    if (const auto* periodic = std::get_if<PeriodicNoise>(&source)) {
        text = fmt::format("{} ns in every {} ns", periodic->length_ns, periodic->period_ns);
    } else if (const auto* random = std::get_if<RandomNoise>(&source)) {
        text = fmt::format("{} lengths of mean {} ns, {} ns apart in the mean",
                           name_of(random->lengths), random->length_ns, random->gap_ns);
    } else if (const auto* trace = std::get_if<std::shared_ptr<const NoiseTrace>>(&source)) {
        text = "recorded on " + ((*trace)->name.empty() ? "a machine" : (*trace)->name);
    }
    return text + (present() && aligned ? ", on all ranks at the same times" : "");
}

void Noise::check() const {
    if (const auto* periodic = std::get_if<PeriodicNoise>(&source)) {
        corymb::check(*periodic);
    } else if (const auto* random = std::get_if<RandomNoise>(&source)) {
        corymb::check(*random);
    } else if (const auto* trace = std::get_if<std::shared_ptr<const NoiseTrace>>(&source)) {
        if (*trace == nullptr) {
            refuse("noise: there is no trace");
        }
        (*trace)->check();
    }
}

Noise noise_from(std::string_view text) {
    const std::vector<std::string_view> parts = parts_of(text);
    const bool is_periodic = parts.front() == "periodic";
    if (!is_periodic && parts.front() != "random") {
        return Noise::recorded(load_noise_trace(std::filesystem::path(text)));
    }
    if (parts.size() < 3 || parts.size() > (is_periodic ? 3U : 4U)) {
        refuse(fmt::format("noise \"{}\" must be periodic:PERIOD:LENGTH or "
                           "random:GAP:LENGTH[:constant|uniform|exponential], in ns",
                           text.substr(0, 60)));
    }
    const double between = time_from(parts[1], text);
    const double length = time_from(parts[2], text);
    Noise noise = is_periodic ? Noise::periodic(between, length) : Noise::random(between, length);
    if (parts.size() == 4) {
        const auto* found =
            std::ranges::find(length_names, parts[3], &decltype(length_names)::value_type::first);
        if (found == length_names.end()) {
            refuse(fmt::format("noise \"{}\": lengths are constant, uniform or exponential, not "
                               "\"{}\"",
                               text.substr(0, 60), parts[3].substr(0, 30)));
        }
        std::get<RandomNoise>(noise.source).lengths = found->second;
    }
    noise.check();
    return noise;
}

} // namespace corymb

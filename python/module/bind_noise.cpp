// SPDX-License-Identifier: Apache-2.0
// corymb/noise.hpp, corymb/phases.hpp and the recording of noise for Python.
#include "bindings.hpp"

#include <corymb/discover.hpp>
#include <corymb/noise.hpp>
#include <corymb/phases.hpp>
#include <corymb/simulate.hpp>

#include <nanobind/stl/filesystem.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/vector.h>

#include <numeric>
#include <optional>
#include <utility>

namespace corymb::python {

namespace {

Noise with(Noise noise, bool aligned, std::uint64_t seed) {
    noise.aligned = aligned;
    noise.seed = seed;
    noise.check();
    return noise;
}

NoiseTrace record(double seconds, std::vector<int> cpus, nb::object progress) {
    ProgressBridge bridge(std::move(progress));
    RecordNoiseOptions options;
    options.seconds = seconds;
    options.cpus = std::move(cpus);
    options.progress = [&bridge](double done, std::string_view what) {
        return bridge.report(done, what);
    };
    try {
        const nb::gil_scoped_release unlocked;
        return record_noise(options);
    } catch (...) {
        bridge.rethrow();
        throw;
    }
}

std::vector<int> seats_of(const Plan& plan, const std::optional<std::vector<int>>& placement) {
    std::vector<int> seats = placement.value_or(std::vector<int>(plan.steps.size()));
    if (!placement) {
        std::iota(seats.begin(), seats.end(), 0);
    }
    return seats;
}

void bind_trace_of_noise(nb::module_& module) {
    const nb::call_guard<nb::gil_scoped_release> unlocked;
    nb::class_<NoiseTrace>(module, "NoiseTrace",
                           "Interruptions as they were recorded; docs/explain/noise.md.")
        .def_static("from_json", &noise_trace_from_json, nb::arg("text"), unlocked,
                    "Raises corymb.Error that names the wrong field.")
        .def_static("load", &load_noise_trace, nb::arg("file"), unlocked)
        .def(
            "to_json", [](const NoiseTrace& self) { return to_json(self); }, unlocked)
        .def_ro("name", &NoiseTrace::name)
        .def_ro("source", &NoiseTrace::source)
        .def_ro("created", &NoiseTrace::created)
        .def_ro("threshold_ns", &NoiseTrace::threshold_ns,
                "Shorter interruptions were not recorded.")
        .def_prop_ro(
            "recorded",
            [](const NoiseTrace& self) {
                std::vector<std::pair<int, double>> recorded;
                for (const CpuNoise& cpu : self.cpus) {
                    recorded.emplace_back(cpu.cpu, cpu.recorded_ns);
                }
                return recorded;
            },
            "(CPU, ns for which it was watched) for each CPU.")
        .def(
            "interruptions",
            [](const NoiseTrace& self, int cpu) {
                std::vector<std::pair<double, double>> list;
                for (const CpuNoise& one : self.cpus) {
                    for (const Interruption& span : one.interruptions) {
                        if (one.cpu == cpu) {
                            list.emplace_back(span.begin_ns, span.length_ns);
                        }
                    }
                }
                return list;
            },
            nb::arg("cpu"), "(begin, length) in ns of each interruption of a CPU.")
        .def_prop_ro(
            "summary",
            [](const NoiseTrace& self) {
                const NoiseSummary summary = summary_of(self);
                nb::dict numbers;
                numbers["lost_share"] = summary.lost_share;
                numbers["rate_per_s"] = summary.rate_per_s;
                numbers["median_ns"] = summary.median_ns;
                numbers["longest_ns"] = summary.longest_ns;
                return numbers;
            },
            nb::sig("def summary(self) -> dict[str, float]"),
            "lost_share, rate_per_s (of one CPU), median_ns and longest_ns.");
    module.def("record_noise", &record, nb::arg("seconds") = 5.0,
               nb::arg("cpus") = std::vector<int>{}, nb::arg("progress") = nb::none(),
               nb::sig("def record_noise(seconds: float = 5.0, "
                       "cpus: collections.abc.Sequence[int] = [], progress: "
                       "collections.abc.Callable[[float, str], bool | None] | None = None) "
                       "-> NoiseTrace"),
               "Records what interrupts this machine's CPUs. `progress` as for `measure`.");
    module.def("cached_noise_path", &cached_noise_path,
               "Where `corymb doctor --noise` keeps its recording.");
}

void bind_noise_itself(nb::module_& module) {
    nb::class_<Noise>(module, "Noise", "What interrupts simulated ranks; docs/explain/noise.md.")
        .def_static(
            "periodic",
            [](double period_ns, double length_ns, std::vector<double> phases_ns, bool aligned,
               std::uint64_t seed) {
                return with(Noise::periodic(period_ns, length_ns, std::move(phases_ns)), aligned,
                            seed);
            },
            nb::arg("period_ns"), nb::arg("length_ns"),
            nb::arg("phases_ns") = std::vector<double>{}, nb::kw_only(), nb::arg("aligned") = false,
            nb::arg("seed") = std::uint64_t{1}, "An interruption of `length_ns` in each period.")
        .def_static(
            "from_text",
            [](const std::string& text, bool aligned, std::uint64_t seed) {
                return with(noise_from(text), aligned, seed);
            },
            nb::arg("text"), nb::kw_only(), nb::arg("aligned") = false,
            nb::arg("seed") = std::uint64_t{1},
            "'periodic:PERIOD:LENGTH', 'random:GAP:LENGTH[:constant|uniform|exponential]' in ns, "
            "or the name of a recording.")
        .def_static(
            "recorded",
            [](const NoiseTrace& trace, bool aligned, std::uint64_t seed) {
                return with(Noise::recorded(trace), aligned, seed);
            },
            nb::arg("trace"), nb::kw_only(), nb::arg("aligned") = false,
            nb::arg("seed") = std::uint64_t{1}, "As recorded, again and again.")
        .def_ro("aligned", &Noise::aligned, "All ranks are interrupted at the same times.")
        .def_ro("seed", &Noise::seed)
        .def_prop_ro("lost_share", &Noise::lost_share, "Expected share of the time, 0 to 1.")
        .def_prop_ro("text", &Noise::text, "For people.");
}

void bind_phases(nb::module_& module) {
    nb::class_<Phases>(module, "Phases",
                       "A plan on a cluster, for phases of computing and the operation; "
                       "docs/explain/noise.md.")
        .def(nb::init<const Plan&, const Cluster&, std::uint64_t>(), nb::arg("plan"),
             nb::arg("cluster"), nb::arg("bytes") = std::uint64_t{8},
             nb::call_guard<nb::gil_scoped_release>())
        .def(
            "run",
            [](const Phases& self, const std::string& form, const Noise* noise, double compute_ns,
               int phases, int looks, double start_ns, double slack, int delayed, double delay_ns,
               std::uint64_t replay) {
                PhaseOptions options{call_form_from_string(form),
                                     compute_ns,
                                     phases,
                                     looks,
                                     start_ns,
                                     slack,
                                     delayed,
                                     delay_ns};
                const nb::gil_scoped_release unlocked;
                PhaseTimes times = self.run(options, noise != nullptr ? *noise : Noise{}, replay);
                return std::pair(std::move(times.phase_ns), std::move(times.finish_ns));
            },
            nb::arg("form") = "blocking", nb::arg("noise") = nb::none(), nb::kw_only(),
            nb::arg("compute_ns") = 100'000.0, nb::arg("phases") = 100, nb::arg("looks") = 10,
            nb::arg("start_ns") = 0.0, nb::arg("slack") = 0.25, nb::arg("delayed") = -1,
            nb::arg("delay_ns") = 0.0, nb::arg("replay") = std::uint64_t{0},
            "(time of each phase, end of each rank) in ns. `form` is blocking, nonblocking, "
            "persistent or aligned.")
        .def("__len__", &Phases::size, "Number of ranks.")
        .def_prop_ro("step_count", &Phases::step_count, "Steps of all ranks together.");
}

} // namespace

void bind_noise(nb::module_& module) {
    const nb::call_guard<nb::gil_scoped_release> unlocked;
    bind_trace_of_noise(module);
    bind_noise_itself(module);
    bind_phases(module);
    module.def(
        "noisy_makespans",
        [](const Plan& plan, const Machine& machine, const Noise& noise,
           const std::optional<std::vector<int>>& placement, std::uint64_t bytes,
           std::uint32_t replays) {
            return noisy_makespans(plan, machine, seats_of(plan, placement), bytes, noise, replays);
        },
        nb::arg("plan"), nb::arg("machine"), nb::arg("noise"), nb::kw_only(),
        nb::arg("placement") = nb::none(), nb::arg("bytes") = std::uint64_t{8},
        nb::arg("replays") = 1000u, unlocked,
        "The makespan of each replay under noise, in the model's unit.");
    module.def(
        "noisy_makespans",
        [](const Plan& plan, const Cluster& cluster, const Noise& noise, std::uint64_t bytes,
           std::uint32_t replays) { return noisy_makespans(plan, cluster, bytes, noise, replays); },
        nb::arg("plan"), nb::arg("cluster"), nb::arg("noise"), nb::kw_only(),
        nb::arg("bytes") = std::uint64_t{8}, nb::arg("replays") = 1000u, unlocked);
}

} // namespace corymb::python

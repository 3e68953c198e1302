// SPDX-License-Identifier: Apache-2.0
// corymb/discover.hpp for Python.
#include "bindings.hpp"
#include "output.hpp"

#include <corymb/discover.hpp>

#include <nanobind/stl/filesystem.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <utility>

namespace corymb::python {

namespace {

Machine measure_with_progress(double budget_s, bool full_matrix, std::vector<int> cpus,
                              nb::object progress) {
    ProgressBridge bridge(std::move(progress));
    MeasureOptions options;
    options.budget_s = budget_s;
    options.full_matrix = full_matrix;
    options.cpus = std::move(cpus);
    options.progress = [&bridge](double done, std::string_view what) {
        return bridge.report(done, what);
    };
    try {
        const nb::gil_scoped_release unlocked;
        return measure(options);
    } catch (...) {
        bridge.rethrow();
        throw;
    }
}

std::pair<std::optional<Machine>, std::string> cached() {
    const nb::gil_scoped_release unlocked;
    std::string why;
    std::optional<Machine> machine = load_cached_machine(&why);
    return {std::move(machine), std::move(why)};
}

void export_distances(const Machine& machine, const std::filesystem::path& xml_file) {
    flush_before(xml_file);
    const nb::gil_scoped_release unlocked;
    export_hwloc_distances(machine, xml_file);
}

void bind_probes(nb::module_& module) {
    nb::class_<UsableCpus>(module, "UsableCpus", "CPUs that this process may use.")
        .def_ro("allowed", &UsableCpus::allowed, "Numbers out of the inherited mask.")
        .def_ro("quota", &UsableCpus::quota, "CPUs' worth of time from cgroups, or None.")
        .def("count", &UsableCpus::count, "How many ranks can run at the same time.");
    module.def("usable_cpus", &usable_cpus, "Affinity mask, cpuset and CPU quota together.");
    nb::class_<Permission>(module, "Permission", "One thing that a machine or container permits.")
        .def_ro("name", &Permission::name)
        .def_ro("available", &Permission::available)
        .def_ro("detail", &Permission::detail);
    module.def("probe_permissions", &probe_permissions, nb::call_guard<nb::gil_scoped_release>(),
               "What this machine or container permits, one entry a capability.");
    nb::class_<SpotCheck>(module, "SpotCheck", "Whether a model still fits this machine.")
        .def_ro("fits", &SpotCheck::fits)
        .def_ro("worst_ratio", &SpotCheck::worst_ratio)
        .def_ro("text", &SpotCheck::text);
    module.def("spot_check", &spot_check, nb::arg("machine"),
               nb::call_guard<nb::gil_scoped_release>(), "Times a few pairs again (< 50 ms).");
}

} // namespace

void bind_discover(nb::module_& module) {
    const nb::call_guard<nb::gil_scoped_release> unlocked;
    bind_probes(module);
    module.def("measure", &measure_with_progress, nb::arg("budget_s") = 20.0,
               nb::arg("full_matrix") = false, nb::arg("cpus") = std::vector<int>{},
               nb::arg("progress") = nb::none(),
               nb::sig("def measure(budget_s: float = 20.0, full_matrix: bool = False, "
                       "cpus: collections.abc.Sequence[int] = [], progress: "
                       "collections.abc.Callable[[float, str], bool | None] | None = None) "
                       "-> Machine"),
               "Measures this machine. `progress(done, what)` is called about ten times a second; "
               "returning False stops with corymb.Error (code 'interrupted'), Ctrl-C with "
               "KeyboardInterrupt.");
    module.def("cached_machine", &cached,
               "The cached model of this machine, or (None, why there is none).");
    module.def("cached_model_path", &cached_model_path,
               "Where this user's measured model is kept.");
    module.def("discover_topology", &discover_topology, unlocked,
               "Topology of this machine with relative costs; nothing is measured.");
    module.def("topology_from_xml", &topology_from_xml, nb::arg("file"), unlocked,
               "Topology out of an hwloc XML file, with relative costs.");
    module.def("topology_from_synthetic", &topology_from_synthetic, nb::arg("description"),
               unlocked, "Topology of an hwloc description such as 'pack:2 l3:2 core:4 pu:2'.");
    module.def("export_hwloc_distances", &export_distances, nb::arg("machine"), nb::arg("xml_file"),
               "Writes hwloc XML with the send and receive costs as distances (picoseconds).");
}

} // namespace corymb::python

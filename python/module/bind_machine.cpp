// SPDX-License-Identifier: Apache-2.0
// corymb/machine.hpp for Python. A Machine is immutable there (but for its name), so that numpy
// views of its matrices stay valid as long as somebody holds them.
#include "bindings.hpp"
#include "model_names.hpp"
#include "output.hpp"

#include <corymb/doubts.hpp>
#include <corymb/machine.hpp>

#include <nanobind/ndarray.h>
#include <nanobind/stl/filesystem.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/vector.h>

#include <limits>
#include <memory>
#include <string>
#include <utility>

namespace corymb::python {

namespace {

using MatrixView = nb::ndarray<nb::numpy, const float, nb::ndim<2>>;
using ClassView = nb::ndarray<nb::numpy, const int, nb::ndim<2>>;
using Matrix = nb::ndarray<nb::numpy, double, nb::ndim<2>>;

TimeUnit unit_from(const std::string& name) {
    if (name == "ns" || name == "cycles") {
        return name == "ns" ? TimeUnit::nanoseconds : TimeUnit::cycles;
    }
    const std::string text = "unit must be 'ns' or 'cycles', not '" + name + "'";
    throw nb::value_error(text.c_str());
}

nb::object view(nb::handle self, const std::vector<float>& values) {
    const auto& machine = nb::cast<const Machine&>(self);
    if (values.empty()) {
        return nb::none();
    }
    const auto n = static_cast<std::size_t>(machine.size());
    return nb::cast(MatrixView(values.data(), {n, n}, self));
}

/// The cost of every ordered pair, from the matrix or from the classes; NaN on the diagonal.
Matrix full_matrix(const Machine& machine, double (Machine::*cost)(int, int) const noexcept) {
    const int size = machine.size();
    const auto n = static_cast<std::size_t>(size);
    auto values = std::make_unique<double[]>(n * n);
    for (int from = 0; from < size; ++from) {
        for (int to = 0; to < size; ++to) {
            values[static_cast<std::size_t>(from) * n + static_cast<std::size_t>(to)] =
                from == to ? std::numeric_limits<double>::quiet_NaN() : (machine.*cost)(from, to);
        }
    }
    double* data = values.release();
    const nb::capsule owner(data,
                            [](void* memory) noexcept { delete[] static_cast<double*>(memory); });
    return Matrix(data, {n, n}, owner);
}

void bind_parts(nb::module_& module) {
    nb::class_<Pu>(module, "Pu", "One processing unit (hardware thread); -1 means unknown.")
        .def_ro("cpu", &Pu::cpu, "Number that the operating system gives it.")
        .def_ro("core", &Pu::core)
        .def_ro("l2", &Pu::l2)
        .def_ro("l3", &Pu::l3)
        .def_ro("die", &Pu::die)
        .def_ro("package", &Pu::package)
        .def_ro("numa", &Pu::numa)
        .def_ro("kind", &Pu::kind, "Efficiency rank of hybrid cores, 0 the least powerful.");
    nb::class_<Statistic>(module, "Statistic", "A measured quantity; count 0 means missing (NaN).")
        .def_ro("median", &Statistic::median)
        .def_ro("q25", &Statistic::q25)
        .def_ro("q75", &Statistic::q75)
        .def_ro("count", &Statistic::count);
    nb::class_<PairClass>(module, "PairClass", "A set of core pairs that cost about the same.")
        .def_ro("name", &PairClass::name)
        .def_ro("send", &PairClass::send, "Time that the sender is busy for one message.")
        .def_ro("receive", &PairClass::receive, "Time that the receiver is busy for one message.")
        .def_ro("round_trip", &PairClass::round_trip, "Measured on its own, as a cross-check.")
        .def_ro("reliability", &PairClass::reliability, "Split-half correlation of pair values.")
        .def_ro("pairs_sampled", &PairClass::pairs_sampled);
    nb::class_<Quality>(module, "Quality", "How far the numbers can be trusted.")
        .def_ro("noisy", &Quality::noisy)
        .def_ro("unstable_topology", &Quality::unstable_topology)
        .def_ro("pinned", &Quality::pinned)
        .def_ro("dropped_batches", &Quality::dropped_batches)
        .def_ro("steal", &Quality::steal)
        .def_ro("split_half_r", &Quality::split_half_r)
        .def_ro("duration_s", &Quality::duration_s)
        .def_ro("budget_s", &Quality::budget_s)
        .def_ro("remarks", &Quality::remarks);
    nb::class_<MemoryLevel>(module, "MemoryLevel", "Memory bandwidth of one core, in 10^9 B/s.")
        .def_ro("level", &MemoryLevel::level)
        .def_ro("working_set_bytes", &MemoryLevel::working_set_bytes)
        .def_ro("read_gbs", &MemoryLevel::read_gbs)
        .def_ro("write_gbs", &MemoryLevel::write_gbs)
        .def_ro("copy_gbs", &MemoryLevel::copy_gbs);
    nb::class_<SharedResource>(module, "SharedResource",
                               "What ranks share; docs/explain/model.md, \"What ranks share\".")
        .def_prop_ro(
            "use", [](const SharedResource& self) { return name_of(shared_uses, self.use); },
            "'copies-from', 'copies-between' or 'word'.")
        .def_prop_ro(
            "scope", [](const SharedResource& self) { return name_of(scopes, self.scope); },
            "'pu', 'l3', 'numa', 'package' or 'machine'.")
        .def_prop_ro(
            "origin", [](const SharedResource& self) { return name_of(data_origins, self.origin); },
            "'measured', 'imported' or 'assumed'.")
        .def_ro("from_bytes", &SharedResource::from_bytes, "Least payload that uses it.")
        .def_ro("count", &SharedResource::count, "Numbers of ranks.")
        .def_ro("value", &SharedResource::value,
                "Of copies 10^9 B/s of all together, of a word the time until all changed it.");
    nb::class_<Fingerprint>(module, "Fingerprint", "Says which machine a model belongs to.")
        .def_ro("cpu", &Fingerprint::cpu)
        .def_ro("topology_sha256", &Fingerprint::topology_sha256)
        .def_ro("cpuset", &Fingerprint::cpuset)
        .def_ro("kernel", &Fingerprint::kernel)
        .def_ro("virtualization", &Fingerprint::virtualization)
        .def_ro("smt", &Fingerprint::smt);
}

void bind_data(nb::class_<Machine>& machine) {
    machine.def_rw("name", &Machine::name)
        .def_ro("source", &Machine::source, "Where the numbers come from.")
        .def_ro("created", &Machine::created, "ISO 8601 UTC; empty when unknown.")
        .def_ro("assumption", &Machine::assumption, "What was assumed to make the model.")
        .def_prop_ro(
            "unit",
            [](const Machine& self) { return self.unit == TimeUnit::cycles ? "cycles" : "ns"; },
            "Unit of every cost: 'ns' or 'cycles'.")
        .def_ro("unit_ns", &Machine::unit_ns, "Nanoseconds per unit; NaN when unknown.")
        .def_ro("fingerprint", &Machine::fingerprint)
        .def_ro("classes", &Machine::classes, "Classes of core pairs.")
        .def_ro("group", &Machine::group, "Measured group of each PU, dense from 0.")
        .def_ro("memory", &Machine::memory)
        .def_ro("shared", &Machine::shared, "What ranks share when they use it at the same time.")
        .def_prop_ro(
            "levels",
            [](const Machine& self) {
                std::vector<std::pair<std::string, std::vector<int>>> levels;
                for (const GivenLevel& level : self.levels) {
                    levels.emplace_back(level.name, level.group);
                }
                return levels;
            },
            "Given levels, from coarse to fine: name, and group of each PU; see with_levels.")
        .def_ro("step_overhead", &Machine::step_overhead)
        .def_ro("quality", &Machine::quality)
        .def_prop_ro("pus", [](const Machine& self) { return self.topology.pus; })
        .def_prop_ro("topology_source", [](const Machine& self) { return self.topology.source; })
        .def_prop_ro(
            "doubts", [](const Machine& self) { return doubts(self); },
            "What the model lacks, assumes or doubts, one sentence each.")
        .def_prop_ro("disagreements",
                     [](const Machine& self) { return self.topology.disagreements; })
        .def_prop_ro(
            "cpus",
            [](const Machine& self) {
                std::vector<int> cpus;
                for (const Pu& pu : self.topology.pus) {
                    cpus.push_back(pu.cpu);
                }
                return cpus;
            },
            "Operating-system number of each PU, in PU order.");
}

using Held = nb::pointer_and_handle<Machine>;

void bind_costs(nb::class_<Machine>& machine) {
    machine
        .def_prop_ro(
            "send", [](Held self) { return view(self.h, self.p->send); },
            nb::sig("def send(self) -> numpy.typing.NDArray[numpy.float32] | None"),
            "Read-only view of the send matrix [from, to]; None when the model has classes only.")
        .def_prop_ro(
            "receive", [](Held self) { return view(self.h, self.p->receive); },
            nb::sig("def receive(self) -> numpy.typing.NDArray[numpy.float32] | None"),
            "Read-only view of the receive matrix [from, to]; the cost is paid by `to`.")
        .def(
            "send_costs",
            [](const Machine& self) { return full_matrix(self, &Machine::send_cost); },
            nb::sig("def send_costs(self) -> numpy.typing.NDArray[numpy.float64]"),
            "Cost of every ordered pair as planning sees it (matrix, else class); NaN for from == "
            "to.")
        .def(
            "receive_costs",
            [](const Machine& self) { return full_matrix(self, &Machine::receive_cost); },
            nb::sig("def receive_costs(self) -> numpy.typing.NDArray[numpy.float64]"),
            "As send_costs, for the receiver.")
        .def(
            "class_matrix",
            [](Held self) {
                const auto groups = static_cast<std::size_t>(self.p->group_count());
                return ClassView(self.p->group_class.data(), {groups, groups}, self.h);
            },
            nb::sig("def class_matrix(self) -> numpy.typing.NDArray[numpy.int32]"),
            "Read-only view [g, h]: index in `classes` of pairs between measured groups g and h.")
        .def(
            "class_of",
            [](const Machine& self, int from, int to) {
                if (from < 0 || to < 0 || from >= self.size() || to >= self.size()) {
                    throw nb::index_error("PU index out of range");
                }
                return self.class_of(from, to);
            },
            nb::arg("from_pu"), nb::arg("to_pu"));
}

void bind_forms(nb::class_<Machine>& machine) {
    const nb::call_guard<nb::gil_scoped_release> unlocked;
    machine
        .def_static(
            "load", &load_machine, nb::arg("file"), unlocked,
            "Reads a model file, a square CSV of latencies, or a folder with Smelt's send.csv and "
            "receive.csv. Raises corymb.Error that names the wrong field or line.")
        .def(
            "save",
            [](const Machine& self, const std::filesystem::path& file) {
                write_text(file, to_json(self));
            },
            nb::arg("file"),
            "Writes the model file; '-' is standard output. A file keeps its old text when that "
            "fails.")
        .def_static("from_json", &machine_from_json, nb::arg("text"), unlocked)
        .def(
            "to_json", [](const Machine& self) { return to_json(self); }, unlocked)
        .def_prop_ro(
            "has_access_model", [](const Machine& self) { return self.access.present(); },
            "The machine has no coherent caches; docs/reference/messages.md.")
        .def(
            "with_levels",
            [](const Machine& self, std::string_view levels) {
                Machine machine = self;
                set_levels(machine, levels);
                return machine;
            },
            nb::arg("levels"), unlocked,
            "The machine with these levels for plans by levels to follow: names out of package, "
            "numa, die, l3, l2 and core, from coarse to fine, as in 'numa,l3'; 'none'; or a file "
            "'corymb-levels/1' whose name has a slash or ends in .json (docs/explain/model.md).")
        .def("sha256", &machine_sha256, unlocked, "Identifies the model in plans.")
        .def("check", &Machine::check, unlocked, "Verifies every invariant.")
        .def_static("gallery", &gallery_machine, nb::arg("name"), unlocked,
                    "A machine that ships with corymb, see corymb.gallery_names().")
        .def_static(
            "import_latency_csv",
            [](std::string_view text, const std::string& name, const std::string& unit) {
                return import_latency_csv(text, name, unit_from(unit));
            },
            nb::arg("text"), nb::arg("name"), nb::arg("unit") = "ns",
            "A square CSV of one-way latencies L; assumes receive = L and send = 0.28 L.")
        .def_static("import_smelt_csv", &import_smelt_csv, nb::arg("send"), nb::arg("receive"),
                    nb::arg("name"), "Smelt's send.csv and receive.csv, in cycles.");
}

} // namespace

void bind_machine(nb::module_& module) {
    bind_parts(module);
    nb::class_<Machine> machine(
        module, "Machine",
        "A machine model: what the cores are and what a message between each two of them costs.");
    bind_data(machine);
    bind_costs(machine);
    bind_forms(machine);
    machine.def("__len__", &Machine::size)
        .def("index_of_cpu", &Machine::index_of_cpu, nb::arg("cpu"),
             "PU index of an operating-system CPU number, or -1.")
        .def("__repr__", [](const Machine& self) {
            return "<corymb.Machine '" + self.name + "', " + std::to_string(self.size()) +
                   " PUs, " + std::to_string(self.classes.size()) + " classes>";
        });
    module.def("gallery_names", &gallery_names, "Names of the machines that ship with corymb.");
}

} // namespace corymb::python

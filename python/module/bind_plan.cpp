// SPDX-License-Identifier: Apache-2.0
// corymb/plan.hpp for Python. Names are strings there, as in the JSON form.
#include "bindings.hpp"

#include <corymb/plan.hpp>

#include <nanobind/operators.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/vector.h>

namespace corymb::python {

namespace {

void bind_step(nb::module_& module) {
    nb::class_<Blocks>(module, "Blocks", "A range of blocks of one of a rank's buffers.")
        .def_prop_ro("buffer", [](const Blocks& self) { return to_string(self.buffer); })
        .def_ro("first", &Blocks::first)
        .def_ro("count", &Blocks::count);
    nb::class_<Step>(module, "Step", "One step of one rank.")
        .def_prop_ro("kind", [](const Step& self) { return to_string(self.kind); })
        .def_prop_ro("via", [](const Step& self) { return to_string(self.via); })
        .def_ro("peer", &Step::peer, "Rank of the other side, or -1.")
        .def_ro("to", &Step::to)
        .def_ro("from_", &Step::from)
        .def_ro("ordinal", &Step::ordinal)
        .def_ro("offset", &Step::offset, "Places of a publication before the first that is read.")
        .def_ro("incoming_first", &Step::incoming_first)
        .def("__repr__", [](const Step& self) {
            return "<" + std::string(to_string(self.kind)) + " " + std::to_string(self.peer) + ">";
        });
}

} // namespace

void bind_plan(nb::module_& module) {
    const nb::call_guard<nb::gil_scoped_release> unlocked;
    bind_step(module);
    nb::class_<Plan>(module, "Plan",
                     "For each rank an ordered list of steps: what a collective does.")
        .def_prop_ro("op", [](const Plan& self) { return to_string(self.op); })
        .def_ro("root", &Plan::root)
        .def_ro("block_count", &Plan::block_count)
        .def_ro("scratch_blocks", &Plan::scratch_blocks)
        .def_ro("bytes_max", &Plan::bytes_max)
        .def_ro("cell_slots", &Plan::cell_slots,
                "Slots that the plan counts on in the channel of cells between two ranks.")
        .def_ro("copied_cells", &Plan::copied_cells,
                "Plans for any length: messages by pull of so many cells take a copy along.")
        .def_ro("algorithm", &Plan::algorithm)
        .def_ro("steps", &Plan::steps, "steps[rank]: the list of that rank's steps.")
        .def_prop_ro(
            "step_count",
            [](const Plan& self) {
                std::size_t count = 0;
                for (const auto& steps : self.steps) {
                    count += steps.size();
                }
                return count;
            },
            "Steps of all ranks together.")
        .def_prop_ro(
            "step_bytes", [](const Plan&) { return sizeof(Step); }, "Memory of one step.")
        .def("__len__", &Plan::size)
        .def("hash", &plan_hash, unlocked, "SHA-256 of everything that decides what it does.")
        .def("check", &check_plan, nb::arg("ordered") = false, unlocked,
             "Proves the plan; raises corymb.Error that names rank and step.")
        .def(
            "to_json", [](const Plan& self) { return to_json(self); }, unlocked)
        .def_static("from_json", &plan_from_json, nb::arg("text"), unlocked,
                    "Reads the JSON form; does not prove it, see check().")
        .def(nb::self == nb::self, nb::sig("def __eq__(self, other: object, /) -> bool"))
        .def("__hash__", [](const Plan& self) { return nb::hash(nb::cast(plan_hash(self))); })
        .def("__repr__", [](const Plan& self) {
            return "<corymb.Plan " + std::string(to_string(self.op)) + ", " + self.algorithm +
                   ", " + std::to_string(self.size()) + " ranks>";
        });
}

} // namespace corymb::python

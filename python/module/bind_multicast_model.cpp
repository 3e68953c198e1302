// SPDX-License-Identifier: Apache-2.0
// corymb/multicast_model.hpp for Python.
#include "bindings.hpp"
#include "multicast_way.hpp"

#include <corymb/multicast_model.hpp>

#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <numeric>
#include <optional>
#include <utility>
#include <vector>

namespace corymb::python {

namespace {

std::vector<int> places(const Machine& machine, const std::optional<std::vector<int>>& placement) {
    std::vector<int> all = placement.value_or(std::vector<int>{});
    if (!placement) {
        all.resize(static_cast<std::size_t>(machine.size()));
        std::iota(all.begin(), all.end(), 0);
    }
    return all;
}

MulticastTimes times_of(const Machine& machine, const std::vector<int>& members,
                        const std::optional<std::vector<int>>& placement, int initiator,
                        const std::string& topology, const std::optional<Plan>& plan, int fan_out,
                        int flat_up_to, bool skipping, const std::string& acknowledgement,
                        const std::optional<Plan>& gather, double run, double test) {
    const MulticastOptions options =
        multicast_way(topology, plan, fan_out, flat_up_to, skipping, acknowledgement, gather);
    MulticastCall call;
    call.members = members;
    call.initiator = initiator;
    call.run = run;
    call.test = test;
    return simulate_multicast(machine, places(machine, placement), options, call);
}

} // namespace

void bind_multicast_model(nb::module_& module) {
    const nb::call_guard<nb::gil_scoped_release> unlocked;
    nb::class_<MulticastTimes>(module, "MulticastTimes", "A simulated call, in the model's unit.")
        .def_ro("latency", &MulticastTimes::latency,
                "From the call until the initiator knows that all members have run it.")
        .def_ro("last_run", &MulticastTimes::last_run, "Until the last member has run it.")
        .def_ro("told", &MulticastTimes::told, "Messages that tell a member.")
        .def_ro("tested", &MulticastTimes::tested, "Ranks on the way that were no members.")
        .def_ro("simulated_on", &MulticastTimes::simulated_on, "Name of the model; print it.");
    nb::class_<MulticastChoice>(module, "MulticastChoice", "What a model says about the best way.")
        .def_ro("flat_up_to", &MulticastChoice::flat_up_to,
                "The initiator tells that many members itself.")
        .def_ro("fan_out", &MulticastChoice::fan_out, "More are cut into so many parts.")
        .def_prop_ro(
            "acknowledgement",
            [](const MulticastChoice& self) {
                return name_of(multicast_acknowledgements, self.acknowledgement);
            },
            "'counters', 'messages' or 'gather'.")
        .def_ro("gather", &MulticastChoice::gather,
                "For 'gather' the planned reduce up whose tree acknowledgements go.")
        .def_ro("reason", &MulticastChoice::reason, "All that and the model's name, for people.");
    module.def("simulate_multicast", &times_of, nb::arg("machine"), nb::arg("members"),
               nb::kw_only(), nb::arg("placement") = nb::none(), nb::arg("initiator") = 0,
               nb::arg("topology") = "split", nb::arg("plan") = nb::none(), nb::arg("fan_out") = 4,
               nb::arg("flat_up_to") = 0, nb::arg("skipping") = true,
               nb::arg("acknowledgement") = "counters", nb::arg("gather") = nb::none(),
               nb::arg("run") = 0.0, nb::arg("test") = 0.0, unlocked,
               "Replays one acknowledged multicast to `members`, ranks without the initiator. "
               "Nothing runs on this machine.");
    module.def(
        "choose_multicast",
        [](const Machine& machine, const std::optional<std::vector<int>>& placement,
           const std::string& acknowledgement) {
            return choose_multicast(
                machine, places(machine, placement),
                named(multicast_acknowledgements, acknowledgement, "acknowledgement"));
        },
        nb::arg("machine"), nb::arg("placement") = nb::none(),
        nb::arg("acknowledgement") = "counters", unlocked,
        "Up to how many members one tells all, and into how many parts more are cut; with "
        "acknowledgement='best' also how members acknowledge.");
}

} // namespace corymb::python

// SPDX-License-Identifier: Apache-2.0
// corymb/mailbox_model.hpp for Python.
#include "bindings.hpp"

#include <corymb/mailbox_model.hpp>

#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <numeric>
#include <optional>
#include <vector>

namespace corymb::python {

namespace {

TicketCounter ticket_counter(const std::string& name) {
    if (name == "own") {
        return TicketCounter::own;
    }
    if (name == "locked") {
        return TicketCounter::locked;
    }
    if (name == "common") {
        return TicketCounter::common;
    }
    throw Error(Errc::unknown_name,
                "unknown tickets '" + name + "'; there are own, locked and common");
}

MailboxTimes times_of(const Machine& machine, const std::string& protocol,
                      const std::optional<std::vector<int>>& placement, std::size_t message_bytes,
                      int silent_members, const std::optional<double>& look,
                      const std::string& tickets, int rounds, std::uint64_t seed) {
    std::vector<int> places = placement.value_or(std::vector<int>{});
    if (!placement) {
        places.resize(static_cast<std::size_t>(machine.size()));
        std::iota(places.begin(), places.end(), 0);
    }
    MailboxScenario scenario;
    scenario.protocol = mailbox_protocol(protocol);
    scenario.message_bytes = message_bytes;
    scenario.silent_members = silent_members;
    scenario.look = look.value_or(scenario.look);
    scenario.tickets = ticket_counter(tickets);
    scenario.rounds = rounds;
    scenario.seed = seed;
    return simulate_mailbox(machine, places, scenario);
}

} // namespace

void bind_mailbox_model(nb::module_& module) {
    const nb::call_guard<nb::gil_scoped_release> unlocked;
    nb::class_<MailboxTimes>(module, "MailboxTimes", "Simulated, in the model's unit.")
        .def_ro("round_trip", &MailboxTimes::round_trip,
                "Rank 0 to another and back: mean over the others.")
        .def_ro("nearest", &MailboxTimes::nearest, "The same to the nearest members alone.")
        .def_ro("farthest", &MailboxTimes::farthest, "And to the farthest.")
        .def_ro("notification", &MailboxTimes::notification,
                "Share of the round trip that is not writing and reading the message itself.")
        .def_ro("idle_probe", &MailboxTimes::idle_probe, "A look at all members, none sends.")
        .def_ro("gather", &MailboxTimes::gather, "All others send to rank 0 at once.")
        .def_ro("collective", &MailboxTimes::collective, "Up a binary tree and down again.")
        .def_ro("simulated_on", &MailboxTimes::simulated_on, "Name of the model; print it.");
    nb::class_<MailboxChoice>(module, "MailboxChoice", "What a model says about the best way.")
        .def_prop_ro(
            "protocol",
            [](const MailboxChoice& self) { return std::string(to_string(self.protocol)); },
            "'ring', 'nvp' or 'srbp'.")
        .def_ro("reason", &MailboxChoice::reason, "The predicted times, for people.");
    module.def("simulate_mailbox", &times_of, nb::arg("machine"), nb::arg("protocol"),
               nb::kw_only(), nb::arg("placement") = nb::none(), nb::arg("message_bytes") = 8,
               nb::arg("silent_members") = 0, nb::arg("look") = nb::none(),
               nb::arg("tickets") = "own", nb::arg("rounds") = MailboxScenario{}.rounds,
               nb::arg("seed") = 1, unlocked,
               "Replays mailboxes on a model, access by access. Nothing runs on this machine.");
    module.def("choose_mailbox", &choose_mailbox, nb::arg("machine"), nb::arg("size"),
               nb::arg("with_srbp") = true, unlocked,
               "The protocol with the fastest simulated round trip in a group of `size`.");
}

} // namespace corymb::python

// SPDX-License-Identifier: Apache-2.0
// corymb/team.hpp for Python: what corymb.Team (team.py) is made of.
#include "bindings.hpp"
#include "python_team.hpp"

#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <iterator>
#include <stop_token>
#include <string>
#include <vector>

namespace corymb::python {

namespace {

NativeTeam made(Team team) {
    return {std::make_shared<Handle>(std::move(team))};
}

NativeTeam split(NativeTeam& team, int color, int key) {
    return made(team.handle->call([=](Team& native) { return native.split(color, key); }));
}

NativeTeam shrink(NativeTeam& team) {
    return made(team.handle->call([](Team& native) {
        if (native.size() == 0) {
            throw Error(Errc::invalid_argument, "the team handle is empty");
        }
        return native.shrink();
    }));
}

void abandon(NativeTeam& team, const std::string& why) {
    team.handle->call([&](Team& native) {
        if (native.size() > 0) {
            native.abandon(why);
        }
    });
}

void warm_up(NativeTeam& team, const std::string& op, std::uint64_t bytes, Rank root,
             bool ordered) {
    const Collective wanted = collective_from_string(op);
    team.handle->call([=](Team& native) { native.warm_up(wanted, bytes, root, ordered); });
}

void set_limits(NativeTeam& team, double deadline_s, const std::stop_source* stop) {
    CallLimits limits;
    limits.deadline = duration(deadline_s, "deadline");
    if (stop != nullptr) {
        limits.stop = stop->get_token();
    }
    team.handle->call([&](Team& native) { native.set_limits(limits); });
}

void bind_stop_source(nb::module_& module) {
    nb::class_<std::stop_source>(
        module, "StopSource",
        "Ends calls of ranks from any thread; give it to `Team.limits`. It cannot be taken back.")
        .def(nb::init<>())
        .def(
            "request_stop", [](std::stop_source& self) { self.request_stop(); },
            nb::call_guard<nb::gil_scoped_release>(),
            "Ends the calls, now and later, of all ranks whose limits have this source.")
        .def_prop_ro(
            "stop_requested", [](const std::stop_source& self) { return self.stop_requested(); },
            "Whether somebody has requested it.");
}

double seconds_of(std::chrono::nanoseconds time) {
    return std::chrono::duration<double>(time).count();
}

void bind_statistics(nb::module_& module) {
    nb::class_<ChosenPlan>(module, "ChosenPlan", "The plan of a kind of calls.")
        .def_prop_ro("op", [](const ChosenPlan& self) { return std::string(to_string(self.op)); })
        .def_ro("root", &ChosenPlan::root)
        .def_ro("nbytes", &ChosenPlan::bytes, "The largest part that it was chosen for.")
        .def_ro("algorithm", &ChosenPlan::algorithm);
    nb::class_<TeamStatistics>(
        module, "TeamStatistics",
        "Counts of one rank since its handle on a team was made; times in seconds.")
        .def_ro("operations", &TeamStatistics::operations,
                "Collectives and messages that have begun, in all forms.")
        .def_ro("nbytes", &TeamStatistics::bytes,
                "Their bytes: those of the longest buffer of each on this rank.")
        .def_ro("waits", &TeamStatistics::waits,
                "Waits for others of more than a few looks, about a microsecond.")
        .def_ro("sleeps", &TeamStatistics::sleeps, "Waits in which the rank went to sleep.")
        .def_prop_ro(
            "waited", [](const TeamStatistics& self) { return seconds_of(self.waited); },
            "Time of all waits.")
        .def_prop_ro(
            "waited_for",
            [](const TeamStatistics& self) {
                std::vector<double> times;
                std::ranges::transform(self.waited_for, std::back_inserter(times), seconds_of);
                return times;
            },
            "That time by the rank that was waited for. Waits for any of several count for none.")
        .def_ro("plans", &TeamStatistics::plans,
                "The plans that the ranks of this process have needed so far.");
}

} // namespace

void bind_team(nb::module_& module) {
    bind_types(module);
    bind_user_operator(module);
    bind_request(module);
    bind_stop_source(module);
    bind_statistics(module);
    TeamClass team(module, "NativeTeam", "The compiled part of corymb.Team.");
    team.def(nb::init<const NativeTeam&>(), nb::arg("native"))
        .def_prop_ro(
            "rank", [](const NativeTeam& self) { return self.handle->team().rank(); },
            "This rank's number, from 0; -1 when the team is empty.")
        .def_prop_ro(
            "size", [](const NativeTeam& self) { return self.handle->team().size(); },
            "Number of ranks; 0 when the team is empty.")
        .def_prop_ro(
            "memory", [](const NativeTeam& self) { return self.handle->team().memory(); },
            "Shared memory of the team's channels in bytes.")
        .def(
            "progress",
            [](NativeTeam& self) {
                return self.handle->call([](Team& native) { return native.progress(); });
            },
            "Goes on with all operations under way as far as it can at once. Returns how many "
            "are still under way.")
        .def("abandon", &abandon, nb::arg("why"),
             "Breaks the team on behalf of this rank: everybody's operations fail at once.")
        .def("native_set_limits", &set_limits, nb::arg("deadline"), nb::arg("stop").none())
        .def(
            "statistics",
            [](NativeTeam& self) {
                return self.handle->call([](const Team& native) { return native.statistics(); });
            },
            "What this rank has done with the team so far, and which ranks it has waited for.")
        .def("native_warm_up", &warm_up, nb::arg("op"), nb::arg("bytes"), nb::arg("root"),
             nb::arg("ordered"))
        .def(
            "Free", [](NativeTeam& self) { self.handle->free(); },
            "Waits for what is under way and gives the team back. Never raises what an "
            "operation would: its request tells that. Raises corymb.Error \"mismatch\" if ranks "
            "that have left before called other collective operations.")
        .def("native_split", &split, nb::arg("color"), nb::arg("key"))
        .def("native_shrink", &shrink);
    bind_collectives(module, team);
    bind_messages(team);
    bind_meeting(module);
}

} // namespace corymb::python

// SPDX-License-Identifier: Apache-2.0
// corymb/trace.hpp for Python.
#include "bindings.hpp"

#include <corymb/trace.hpp>

#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

namespace corymb::python {

void bind_trace(nb::module_& module) {
    nb::class_<TracedMember>(module, "TracedMember", "A rank of a group, seen from outside.")
        .def_ro("rank", &TracedMember::rank, "Of a reader its number; -1: the publisher.")
        .def_ro("pid", &TracedMember::pid, "Its process.")
        .def_ro("state", &TracedMember::state, "docs/reference/command-run.md has them.")
        .def_ro("process", &TracedMember::process, "'running', 'stopped', 'ended' or 'gone'.")
        .def_ro("sequence", &TracedMember::sequence, "Messages that it has told to have taken.")
        .def_ro("behind", &TracedMember::behind, "Messages, or calls, that wait for it.");
    nb::class_<TracedGroup>(module, "TracedGroup",
                            "A group whose memory several processes share, seen from outside.")
        .def_ro("kind", &TracedGroup::kind,
                "'multicast', 'broadcast', 'mailboxes', 'team' or 'unknown'.")
        .def_ro("id", &TracedGroup::id, "Of its memory: the same in all processes.")
        .def_ro("about", &TracedGroup::about, "Topology, shape or protocol, for people.")
        .def_ro("size", &TracedGroup::size, "Ranks, or readers at most.")
        .def_ro("sequence", &TracedGroup::sequence,
                "Calls that have begun, messages published or taken.")
        .def_ro("members", &TracedGroup::members, "Those that are there.")
        .def_ro("calls", &TracedGroup::calls, "Multicast calls that are not complete.");
    module.def("trace_process", &trace_process, nb::arg("pid"),
               nb::call_guard<nb::gil_scoped_release>(),
               "The groups of a running process, as they stand; it does not notice.");
}

} // namespace corymb::python

// SPDX-License-Identifier: Apache-2.0
// The module corymb._core: the public C++ headers seen from Python, one file a header.
#include "bindings.hpp"
#include "output.hpp"

#include <corymb/version.hpp>

namespace nb = nanobind;

NB_MODULE(_core, module) {
    nb::set_leak_warnings(false); // What a program still holds at its end goes with the process.
    module.doc() = "The compiled part of corymb. Use the names from the package `corymb`.";
    module.def("version", &corymb::version, "Version of the library that is running.");
    corymb::python::bind_error(module);
    corymb::python::bind_machine(module);
    corymb::python::bind_discover(module);
    corymb::python::bind_output(module);
    corymb::python::bind_plan(module);
    corymb::python::bind_noise(module);
    corymb::python::bind_planner(module);
    corymb::python::bind_multicast_model(module);
    corymb::python::bind_multicast(module);
    corymb::python::bind_mailbox_model(module);
    corymb::python::bind_mailbox(module);
    corymb::python::bind_remote(module);
    corymb::python::bind_broadcast_ring(module);
    corymb::python::bind_trace(module);
    corymb::python::bind_cluster(module);
    corymb::python::bind_run(module);
    corymb::python::bind_partition(module);
    corymb::python::bind_team(module);
}

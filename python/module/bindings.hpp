// SPDX-License-Identifier: Apache-2.0
// What the files of the Python module share. The module uses public headers only.
#pragma once

#include <nanobind/nanobind.h>

#include <corymb/plan.hpp>

#include <functional>
#include <string>
#include <string_view>
#include <utility>

namespace corymb::python {

namespace nb = nanobind;

/// Makes corymb::Error arrive as corymb.Error with its `code` and `ranks`.
void bind_error(nb::module_& module);
void bind_machine(nb::module_& module);
void bind_discover(nb::module_& module);
void bind_plan(nb::module_& module);
void bind_noise(nb::module_& module);
void bind_planner(nb::module_& module);
void bind_multicast(nb::module_& module);
void bind_multicast_model(nb::module_& module);
void bind_mailbox_model(nb::module_& module);
void bind_mailbox(nb::module_& module);
void bind_remote(nb::module_& module);
void bind_broadcast_ring(nb::module_& module);
void bind_trace(nb::module_& module);
void bind_cluster(nb::module_& module);
void bind_run(nb::module_& module);
void bind_partition(nb::module_& module);
void bind_team(nb::module_& module);

/// Wraps an optional Python callable `progress(done, what)` for a long call that runs without the
/// interpreter lock. Also looks for signals, so that Ctrl-C stops the call. The Python exception
/// that stopped it is kept and must be rethrown with `rethrow` once the call has returned.
class ProgressBridge {
public:
    explicit ProgressBridge(nb::object callable) : callable_(std::move(callable)) {}
    /// Takes the interpreter lock. Returns false when the work should stop.
    bool report(double done, std::string_view what);
    /// Call with the interpreter lock held.
    void rethrow();

private:
    nb::object callable_;
    nb::object exception_;
};

} // namespace corymb::python

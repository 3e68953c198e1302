// SPDX-License-Identifier: Apache-2.0
// corymb/detail/output.hpp for Python: whatever corymb writes goes through it.
#include "output.hpp"

#include <corymb/detail/output.hpp>
#include <corymb/error.hpp>

#include <nanobind/stl/filesystem.h>
#include <nanobind/stl/string.h>

namespace corymb::python {

namespace {

constexpr const char* standard_output = "-";

} // namespace

void flush_before(const std::filesystem::path& file) {
    const nb::object out = nb::module_::import_("sys").attr("stdout");
    if (file == standard_output && !out.is_none()) {
        out.attr("flush")();
    }
}

void write_text(const std::filesystem::path& file, const std::string& text) {
    if (file == standard_output) {
        const nb::object out = nb::module_::import_("sys").attr("stdout");
        out.attr("write")(text);
        out.attr("flush")();
        return;
    }
    try {
        const nb::gil_scoped_release unlocked;
        detail::write_output(file, text);
    } catch (const Error&) {
        if (PyErr_CheckSignals() != 0) { // Ctrl-C while nobody read a FIFO.
            throw nb::python_error();
        }
        throw;
    }
}

void bind_output(nb::module_& module) {
    module.def("write_text", &write_text, nb::arg("file"), nb::arg("text"),
               "Writes a whole text to a file, a device, a pipe or, for '-', standard output. A "
               "file keeps its old text when that fails.");
    module.def("require_writable", &detail::require_output, nb::arg("file"),
               nb::call_guard<nb::gil_scoped_release>(),
               "Raises corymb.Error if it is known that `write_text` would; changes nothing.");
}

} // namespace corymb::python

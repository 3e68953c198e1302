// SPDX-License-Identifier: Apache-2.0
// How results leave Python.
#pragma once

#include "bindings.hpp"

#include <filesystem>
#include <string>

namespace corymb::python {

/// Writes as detail::write_output; "-" is what sys.stdout is at the time.
void write_text(const std::filesystem::path& file, const std::string& text);
/// Before the library itself writes to `file`, which may be standard output.
void flush_before(const std::filesystem::path& file);
void bind_output(nb::module_& module);

} // namespace corymb::python

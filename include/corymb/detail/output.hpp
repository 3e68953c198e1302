// SPDX-License-Identifier: Apache-2.0
// How corymb writes its results, for bindings and programs that have more to write than models.
#pragma once

#include <corymb/export.hpp>

#include <filesystem>
#include <string_view>

namespace corymb::detail {

/// Writes a whole text to where a user says. A regular file gets it at once: a reader sees the old
/// or the new text, also after a crash, and a failure leaves the old one. Mode and owner stay. A
/// symbolic link stays one. Devices, pipes and open descriptors (/dev/stdout) are written to
/// directly, "-" is standard output. A file with several names, or in a folder where nothing can be
/// made, is overwritten in place: a failure leaves the old text, a crash may not.
///
/// Throws Errc::io with the name and the reason. Waits for a reader of a FIFO.
CORYMB_EXPORT void write_output(const std::filesystem::path& file, std::string_view text);

/// Throws as `write_output` would, as far as that is known before there is a text. Changes nothing.
CORYMB_EXPORT void require_output(const std::filesystem::path& file);

} // namespace corymb::detail

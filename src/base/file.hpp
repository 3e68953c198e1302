// SPDX-License-Identifier: Apache-2.0
// Whole files in and out, with errors that have the path and the reason.
#pragma once

#include <cstddef>
#include <filesystem>
#include <string>
#include <string_view>

namespace corymb {

/// The bytes of a file. Throws Errc::io with the path when it cannot be read or is longer than
/// `bytes_max`.
[[nodiscard]] std::string read_file(const std::filesystem::path& file,
                                    std::size_t bytes_max = std::size_t{64} << 20);

/// Replaces a file in one step: whoever opens it sees the old or the new text, also after a crash.
/// The new text goes to a temporary file beside it, which is renamed. Something that is no regular
/// file (a pipe, /dev/stdout) is written to directly. Throws Errc::io with the path; nothing is
/// left behind then.
void write_file_atomically(const std::filesystem::path& file, std::string_view text);

} // namespace corymb

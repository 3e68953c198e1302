// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <optional>
#include <string>

namespace corymb {

/// The whole of a small text file such as those of /proc and /sys, without trailing white space.
/// Empty if it cannot be read. At most 1 MiB is read, since such files report no size.
std::optional<std::string> read_small_file(const std::filesystem::path& file);

} // namespace corymb

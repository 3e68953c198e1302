// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string_view>

namespace corymb {

/// The folder `name` of the data that ships with the library, e.g. "machines": the first of
///   1. $CORYMB_DATA_DIR/name; when the variable is set, nothing else is looked at;
///   2. beside the library that is running: ../share/corymb, ./share/corymb, or its own folder
///      (Python wheels);
///   3. where the data is installed to;
///   4. the source tree that the library was built from.
/// Throws Errc::io and lists where it looked. Thread-safe.
[[nodiscard]] std::filesystem::path data_directory(std::string_view name);

} // namespace corymb

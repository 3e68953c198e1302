// SPDX-License-Identifier: Apache-2.0
// Whole files as text, with errors that have the path and the reason. detail/output.hpp writes
// them.
#pragma once

#include <corymb/error.hpp>

#include <cstddef>
#include <filesystem>
#include <string>

namespace corymb {

/// The bytes of a file. Throws Errc::io with the path when it cannot be read or is longer than
/// `bytes_max`.
[[nodiscard]] std::string read_file(const std::filesystem::path& file,
                                    std::size_t bytes_max = std::size_t{64} << 20);

/// `parse` of a file's text. An Error out of it gets the path in front.
template <class Parse>
[[nodiscard]] auto parse_file(const std::filesystem::path& file, const Parse& parse) {
    const std::string text = read_file(file);
    try {
        return parse(text);
    } catch (const Error& error) {
        throw Error(error.code(), file.string() + ": " + error.what());
    }
}

} // namespace corymb

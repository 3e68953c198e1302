// SPDX-License-Identifier: Apache-2.0
#include "base/small_file.hpp"

#include <array>
#include <cstddef>
#include <fstream>
#include <system_error>

namespace corymb {

std::optional<std::string> read_small_file(const std::filesystem::path& file) {
    std::error_code failed;
    if (std::filesystem::is_directory(file, failed)) {
        return std::nullopt; // Opening one succeeds; only reading fails.
    }
    std::ifstream stream(file, std::ios::binary);
    if (!stream) {
        return std::nullopt;
    }
    constexpr std::size_t bytes_max = 1u << 20;
    std::array<char, 4096> piece; // Most files have a line or a page.
    std::string text;
    while (text.size() < bytes_max) {
        stream.read(piece.data(), piece.size());
        text.append(piece.data(), static_cast<std::size_t>(stream.gcount()));
        if (stream.gcount() < static_cast<std::streamsize>(piece.size())) {
            break;
        }
    }
    const std::size_t last = text.find_last_not_of(" \t\r\n");
    text.resize(last == std::string::npos ? 0 : last + 1);
    return text;
}

} // namespace corymb

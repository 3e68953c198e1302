// SPDX-License-Identifier: Apache-2.0
#include "base/process_state.hpp"

#include "base/small_file.hpp"

namespace corymb {

std::string process_state(std::uint32_t pid) {
    const auto text = read_small_file("/proc/" + std::to_string(pid) + "/stat");
    const std::size_t name_end = text ? text->rfind(')') : std::string::npos;
    if (name_end == std::string::npos || name_end + 2 >= text->size()) {
        return ", gone";
    }
    switch ((*text)[name_end + 2]) {
    case 'T':
    case 't': return ", stopped";
    case 'Z':
    case 'X': return ", ended";
    default: return {};
    }
}

} // namespace corymb

// SPDX-License-Identifier: Apache-2.0
#include "base/process_state.hpp"

#include "base/descriptor.hpp"
#include "base/small_file.hpp"

#include <cstdio>
#include <cstdlib>
#include <fcntl.h>
#include <string_view>
#include <unistd.h>

namespace corymb {

namespace {

/// The fields behind the process's name, which may hold anything; empty when the process is gone.
std::string fields_behind_name(std::uint32_t pid) {
    const auto text = read_small_file("/proc/" + std::to_string(pid) + "/stat");
    const std::size_t name_end = text ? text->rfind(')') : std::string::npos;
    return name_end == std::string::npos || name_end + 2 >= text->size()
               ? std::string()
               : text->substr(name_end + 2);
}

} // namespace

std::string process_state(std::uint32_t pid) {
    const std::string fields = fields_behind_name(pid);
    switch (fields.empty() ? '-' : fields.front()) {
    case '-': return ", gone";
    case 'T':
    case 't': return ", stopped";
    case 'Z':
    case 'X': return ", ended";
    default: return is_dumping_core(pid) ? ", crashed" : "";
    }
}

bool is_dumping_core(std::uint32_t pid) noexcept {
    // On the stack: this runs while a thread waits.
    char name[32];
    std::snprintf(name, sizeof name, "/proc/%u/status", static_cast<unsigned>(pid));
    const Descriptor file(::open(name, O_RDONLY | O_CLOEXEC));
    char text[4096]; // The line is one of the first fifty.
    const ssize_t length = file.number() < 0 ? 0 : ::read(file.number(), text, sizeof text);
    const std::string_view status(text, length > 0 ? static_cast<std::size_t>(length) : 0);
    return status.find("\nCoreDumping:\t1") != std::string_view::npos;
}

std::uint64_t process_start(std::uint32_t pid) {
    constexpr int start_field = 19; // Counted from the state, which is field 0.
    const std::string fields = fields_behind_name(pid);
    std::size_t at = 0;
    for (int field = 0; field < start_field && at != std::string::npos; ++field) {
        at = fields.find(' ', at == 0 ? 0 : at + 1);
    }
    return at >= fields.size() ? 0 : std::strtoull(fields.c_str() + at, nullptr, 10);
}

} // namespace corymb

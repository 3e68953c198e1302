// SPDX-License-Identifier: Apache-2.0
#include "base/thread_limits.hpp"

#include "base/small_file.hpp"

#include <filesystem>
#include <string>
#include <string_view>
#include <sys/resource.h>

namespace corymb {

namespace {

void add(std::string& text, std::string_view name, const std::string& limit) {
    text += text.empty() ? "" : "; ";
    text.append(name).append(": ").append(limit);
}

void add_limit(std::string& text, std::string_view name, __rlimit_resource_t which) {
    rlimit limit{};
    if (::getrlimit(which, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY) {
        add(text, name, std::to_string(limit.rlim_cur));
    }
}

/// Adds a limit of this process's control group (version 2), as the process sees it.
void add_group_limit(std::string& text, std::string_view name, const char* file) {
    const std::filesystem::path root = "/sys/fs/cgroup";
    const std::string line = read_small_file("/proc/self/cgroup").value_or("");
    const std::string group = line.substr(line.rfind(':') + 1);
    for (const auto& folder : {root / std::filesystem::path(group).relative_path(), root}) {
        const auto limit = read_small_file(folder / file);
        if (limit && *limit != "max") {
            add(text, name, *limit);
            return;
        }
    }
}

} // namespace

std::string limits_of_threads() {
    std::string text;
    add_limit(text, "RLIMIT_NPROC (threads and processes of this user)", RLIMIT_NPROC);
    add_limit(text, "RLIMIT_AS (addresses, in bytes)", RLIMIT_AS);
    add_group_limit(text, "pids.max of this container or service (threads and processes)",
                    "pids.max");
    add_group_limit(text, "memory.max of this container or service (bytes)", "memory.max");
    return text.empty() ? "no limit of this process is known" : text;
}

} // namespace corymb

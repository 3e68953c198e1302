// SPDX-License-Identifier: Apache-2.0
#include "base/usable_cpus.hpp"

#include "base/cpu_list.hpp"
#include "base/small_file.hpp"

#include <corymb/usable_cpus.hpp>

#include <sched.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstdlib>
#include <iterator>
#include <memory>
#include <sstream>
#include <string>
#include <string_view>

namespace corymb {
namespace {

namespace fs = std::filesystem;

struct CpuSetDeleter {
    void operator()(cpu_set_t* set) const noexcept { CPU_FREE(set); }
};
using CpuSet = std::unique_ptr<cpu_set_t, CpuSetDeleter>;

/// A mounted hierarchy: its mount point, and the cgroup that appears there.
struct Mount {
    std::string controllers; ///< Comma-separated options of the file system; empty for version 2.
    std::string cgroup;      ///< Path inside the hierarchy that is visible at `point`.
    std::string point;
    bool unified = false;
};

/// The kernel writes blanks in mountinfo as three octal digits, "\040".
std::string unescaped(const std::string& text) {
    std::string plain;
    for (std::size_t at = 0; at < text.size(); ++at) {
        if (text[at] == '\\' && at + 3 < text.size()) {
            plain += static_cast<char>(std::strtol(text.substr(at + 1, 3).c_str(), nullptr, 8));
            at += 3;
        } else {
            plain += text[at];
        }
    }
    return plain;
}

std::vector<Mount> cgroup_mounts(const fs::path& root) {
    std::vector<Mount> mounts;
    std::istringstream lines(read_small_file(root / "proc/self/mountinfo").value_or(""));
    for (std::string line; std::getline(lines, line);) {
        // "36 35 98:0 <root> <mount point> <options> [optional]... - <type> <source> <options>"
        const std::size_t separator = line.find(" - ");
        if (separator == std::string::npos) {
            continue;
        }
        std::istringstream head(line.substr(0, separator));
        std::istringstream tail(line.substr(separator + 3));
        std::string skipped;
        std::string type;
        Mount mount;
        head >> skipped >> skipped >> skipped >> mount.cgroup >> mount.point;
        tail >> type >> skipped >> mount.controllers;
        if (head && (type == "cgroup" || type == "cgroup2")) {
            mount.cgroup = unescaped(mount.cgroup);
            mount.point = unescaped(mount.point);
            mount.unified = type == "cgroup2";
            mounts.push_back(mount);
        }
    }
    return mounts;
}

bool lists(std::string_view comma_separated, std::string_view word) {
    while (!comma_separated.empty()) {
        const std::size_t comma = comma_separated.find(',');
        if (comma_separated.substr(0, comma) == word) {
            return true;
        }
        comma_separated = comma == std::string_view::npos ? std::string_view{}
                                                          : comma_separated.substr(comma + 1);
    }
    return false;
}

/// Directories of the process's cgroup and of all its visible ancestors, the nearest first.
std::vector<fs::path> path_to_root(const fs::path& root, const Mount& mount, std::string path) {
    // Without a cgroup namespace a container sees its own cgroup at the mount point, but the full
    // path in /proc/self/cgroup; a path outside of the mounted part cannot be followed at all.
    if (mount.cgroup != "/") {
        const bool inside = path.compare(0, mount.cgroup.size(), mount.cgroup) == 0;
        path = inside ? path.substr(mount.cgroup.size()) : "";
    }
    fs::path relative = fs::path(path).relative_path().lexically_normal();
    if (!relative.empty() && *relative.begin() == "..") {
        relative.clear();
    }
    const fs::path point = root / fs::path(mount.point).relative_path();
    std::vector<fs::path> directories;
    while (!relative.empty() && relative != ".") {
        directories.push_back(point / relative);
        relative = relative.parent_path();
    }
    directories.push_back(point);
    return directories;
}

std::optional<double> quota_in(const fs::path& directory, bool unified) {
    double quota = 0;
    double period = 0;
    if (unified) {
        std::istringstream text(read_small_file(directory / "cpu.max").value_or("max"));
        text >> quota >> period; // "max 100000" fails to parse: no limit.
        if (!text) {
            return std::nullopt;
        }
    } else {
        std::istringstream quota_text(read_small_file(directory / "cpu.cfs_quota_us").value_or(""));
        std::istringstream text(read_small_file(directory / "cpu.cfs_period_us").value_or(""));
        if (!(quota_text >> quota) || !(text >> period)) {
            return std::nullopt;
        }
    }
    if (!(quota > 0) || !(period > 0)) {
        return std::nullopt; // Version 1 writes -1 for "no limit".
    }
    return quota / period;
}

std::optional<std::vector<int>> cpuset_in(const fs::path& directory, bool unified) {
    const char* const names[2][2] = {{"cpuset.effective_cpus", "cpuset.cpus"},
                                     {"cpuset.cpus.effective", "cpuset.cpus"}};
    for (const char* const name : names[unified ? 1 : 0]) {
        const auto text = read_small_file(directory / name);
        const auto cpus = text ? parse_cpu_list(*text) : std::nullopt;
        if (cpus && !cpus->empty()) { // An empty cpuset inherits its parent's.
            return cpus;
        }
    }
    return std::nullopt;
}

void narrow(CgroupLimits& limits, const fs::path& directory, bool unified) {
    if (const auto quota = quota_in(directory, unified)) {
        limits.quota = limits.quota ? std::min(*limits.quota, *quota) : *quota;
    }
    if (const auto cpus = cpuset_in(directory, unified)) {
        if (!limits.cpuset) {
            limits.cpuset = *cpus;
            return;
        }
        std::vector<int> both;
        std::set_intersection(cpus->begin(), cpus->end(), limits.cpuset->begin(),
                              limits.cpuset->end(), std::back_inserter(both));
        limits.cpuset = both;
    }
}

} // namespace

CgroupLimits cgroup_limits(const fs::path& root) {
    CgroupLimits limits;
    const std::vector<Mount> mounts = cgroup_mounts(root);
    std::istringstream lines(read_small_file(root / "proc/self/cgroup").value_or(""));
    for (std::string line; std::getline(lines, line);) {
        // "<id>:<controllers>:<path>"; version 2 has id 0 and no controllers.
        const std::size_t first = line.find(':');
        const std::size_t second = first == std::string::npos ? first : line.find(':', first + 1);
        if (second == std::string::npos) {
            continue;
        }
        const std::string controllers = line.substr(first + 1, second - first - 1);
        const bool unified = controllers.empty();
        if (!unified && !lists(controllers, "cpu") && !lists(controllers, "cpuset")) {
            continue;
        }
        for (const Mount& mount : mounts) {
            const bool same =
                unified
                    ? mount.unified
                    : !mount.unified &&
                          ((lists(controllers, "cpu") && lists(mount.controllers, "cpu")) ||
                           (lists(controllers, "cpuset") && lists(mount.controllers, "cpuset")));
            if (!same) {
                continue;
            }
            for (const auto& directory : path_to_root(root, mount, line.substr(second + 1))) {
                narrow(limits, directory, unified);
            }
        }
    }
    return limits;
}

constexpr int capacity_max = 1 << 20; ///< CPUs; more than any kernel is built for.

std::vector<int> affinity_mask() {
    // The kernel refuses (EINVAL) masks smaller than its own, which may exceed 1024 CPUs.
    for (int capacity = 1024; capacity <= capacity_max; capacity *= 2) {
        const CpuSet set(CPU_ALLOC(static_cast<std::size_t>(capacity)));
        const std::size_t bytes = CPU_ALLOC_SIZE(static_cast<std::size_t>(capacity));
        if (!set) {
            return {};
        }
        CPU_ZERO_S(bytes, set.get());
        if (sched_getaffinity(0, bytes, set.get()) == 0) {
            std::vector<int> cpus;
            for (int cpu = 0; cpu < capacity; ++cpu) {
                if (CPU_ISSET_S(static_cast<std::size_t>(cpu), bytes, set.get())) {
                    cpus.push_back(cpu);
                }
            }
            return cpus;
        }
        if (errno != EINVAL) {
            return {};
        }
    }
    return {};
}

bool set_affinity_mask(const std::vector<int>& cpus) {
    const auto is_none = [](int cpu) {
        return cpu < 0 || cpu >= capacity_max;
    };
    if (cpus.empty() || std::any_of(cpus.begin(), cpus.end(), is_none)) {
        errno = EINVAL;
        return false;
    }
    const int capacity = std::max(1024, *std::max_element(cpus.begin(), cpus.end()) + 1);
    const CpuSet set(CPU_ALLOC(static_cast<std::size_t>(capacity)));
    const std::size_t bytes = CPU_ALLOC_SIZE(static_cast<std::size_t>(capacity));
    if (!set) {
        return false;
    }
    CPU_ZERO_S(bytes, set.get());
    for (const int cpu : cpus) {
        CPU_SET_S(static_cast<std::size_t>(cpu), bytes, set.get());
    }
    return sched_setaffinity(0, bytes, set.get()) == 0;
}

int UsableCpus::count() const noexcept {
    double cpus = static_cast<double>(allowed.size());
    if (quota) {
        cpus = std::min(cpus, std::floor(*quota));
    }
    return std::max(1, static_cast<int>(cpus));
}

std::optional<double> cpu_quota() {
    static const std::optional<double> quota = cgroup_limits("/").quota;
    return quota;
}

bool is_short_of_time(int threads) {
    const std::optional<double> quota = cpu_quota();
    return quota && threads > *quota;
}

UsableCpus usable_cpus() {
    return {affinity_mask(), cpu_quota()}; // The kernel has applied cpusets to the mask.
}

void start_on_one_of_own_cpus(std::size_t place) {
    const std::vector<int> own = affinity_mask();
    if (own.size() > 1 && set_affinity_mask({own[place % own.size()]})) {
        set_affinity_mask(own);
    }
}

} // namespace corymb

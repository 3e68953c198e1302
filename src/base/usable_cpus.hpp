// SPDX-License-Identifier: Apache-2.0
// The CPUs that the kernel lets this process use: inherited affinity mask, cpuset and CPU quota of
// cgroups.
#pragma once

#include <cstddef>
#include <filesystem>
#include <optional>
#include <vector>

namespace corymb {

/// Limits out of the cgroups (version 1, 2 or both) of this process.
struct CgroupLimits {
    std::optional<double> quota;            ///< CPUs' worth of time; the least along the path.
    std::optional<std::vector<int>> cpuset; ///< Intersection along the path, if any is set.
};

/// Reads <root>/proc/self/cgroup and mountinfo, then the controllers' files from the cgroup of this
/// process up to the mount point: a limit anywhere on the path holds. Unreadable or malformed files
/// are no limit. `root` is "/" except in tests.
CgroupLimits cgroup_limits(const std::filesystem::path& root);

/// CPUs' worth of time that this process may have. Read once: among thousands of mounts that takes
/// milliseconds.
std::optional<double> cpu_quota();

/// Whether this process's CPU quota lets fewer than so many threads run at the same time: then
/// spinning takes time from threads that have work. Sharing of CPUs is found in the waits
/// themselves.
[[nodiscard]] bool is_short_of_time(int threads);

/// The affinity mask of the calling thread, for any number of CPUs. Empty if the kernel refuses.
std::vector<int> affinity_mask();

/// Binds the calling thread to exactly these CPUs. False if the kernel refuses; errno says why.
bool set_affinity_mask(const std::vector<int>& cpus);

/// The affinity of the thread that makes it, put back at the end of the scope.
class AffinityGuard {
public:
    AffinityGuard() : before_(affinity_mask()) {}
    // Does nothing if the kernel has refused to tell the mask.
    ~AffinityGuard() { set_affinity_mask(before_); }
    AffinityGuard(const AffinityGuard&) = delete;
    AffinityGuard& operator=(const AffinityGuard&) = delete;

private:
    std::vector<int> before_;
};

/// Moves the calling thread to one of its CPUs, in turn by `place`, and leaves it as free to go as
/// it was. Does nothing where the kernel refuses.
void start_on_one_of_own_cpus(std::size_t place);

} // namespace corymb

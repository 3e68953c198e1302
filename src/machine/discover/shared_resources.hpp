// SPDX-License-Identifier: Apache-2.0
// What the ranks of this machine share, measured.
#pragma once

#include <corymb/machine.hpp>

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

namespace corymb::discover {

/// What is asked of the machine; SharedProbe has the answers. NaN is none.
struct SharedTimes {
    std::function<double(int home, std::span<const int> cpus, std::int64_t bytes)> copies;
    std::function<double(int owner, std::span<const int> cpus, std::int64_t bytes)> readers;
    std::function<double(std::span<const int> cpus)> counter;
};

/// Working sets; 0: unknown, so what needs it is left out.
struct SharedSets {
    std::int64_t cache_bytes = 0;  ///< Fits the last-level cache.
    std::int64_t memory_bytes = 0; ///< Fits no cache.
    std::int64_t from_bytes = 0;   ///< Least payload that no cache holds.
};

/// Half of a last-level cache of so many bytes, at most 32 MiB; and twice its size, at least
/// 32 MiB, unless that is more than 256 MiB or an eighth of the available memory.
[[nodiscard]] SharedSets shared_sets(std::int64_t cache_bytes, std::int64_t available_bytes);

/// Curves over 1, 2, 4 and so on CPUs, one of each core, and all of them: of the largest L3 cache,
/// the largest NUMA node, the link between the first two packages, the first CPU's buffers, and a
/// word of all. Before each point `keep_going` is told its expected seconds and may refuse it. What
/// has no point is left out. The word's release is taken off by the model's own `shared_line`.
[[nodiscard]] std::vector<SharedResource>
measured_shared_resources(const Machine& machine, const SharedTimes& times, const SharedSets& sets,
                          const std::function<bool(double)>& keep_going);

} // namespace corymb::discover

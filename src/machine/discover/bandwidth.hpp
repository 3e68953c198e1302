// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <corymb/machine.hpp>

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace corymb::discover {

/// A working set that fits one level of the memory hierarchy but not the one before.
struct WorkingSet {
    std::string level; ///< "l1", "l2", "l3", "dram".
    std::int64_t bytes = 0;
};

/// Half of each cache that is known (0: unknown), and for DRAM four times the largest, but at least
/// 16 MiB and at most 512 MiB and an eighth of `available_bytes`; no DRAM set if that would still
/// fit the largest cache twice over less than once.
std::vector<WorkingSet> working_sets(std::int64_t l1, std::int64_t l2, std::int64_t l3,
                                     std::int64_t available_bytes);

/// Bytes of memory that the system could hand out now; 0 if unknown.
std::int64_t available_memory();

/// Read, write and copy rates of the calling thread over each set, about 10 ms a number. Before
/// each set `keep_going` is told how many seconds it may take, and may refuse it. A set that cannot
/// be allocated is left out.
std::vector<MemoryLevel> measure_bandwidth(const std::vector<WorkingSet>& sets,
                                           const std::function<bool(double)>& keep_going);

} // namespace corymb::discover

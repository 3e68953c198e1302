// SPDX-License-Identifier: Apache-2.0
// One slot of measurement: all ranks start together, do so many operations, and are timed.
#pragma once

#include "crew.hpp"
#include "workload.hpp"

#include <cstdint>
#include <functional>
#include <vector>

namespace corymb::bench {

/// Runs a job on all ranks; threads of ours (Crew) or of a runtime.
using RunAll = std::function<void(const Job& job)>;

struct SlotResult {
    double operation_ns = 0; ///< Per operation. In the regime `late`: from the late rank's arrival.
    double cpu_ns = 0;       ///< CPU time of all ranks together, per operation.
    std::uint64_t wrong = 0; ///< Results that were not right.
};

/// Times `operations` operations after a short warm-up.
SlotResult run_slot(const Case& what, Workload& workload, const RunAll& run_all,
                    std::uint64_t operations);

/// The first operations of all, each by itself.
struct FirstCalls {
    std::vector<double> operation_ns; ///< From the last rank's start to the last rank's end.
    std::uint64_t wrong = 0;
};

/// To be called before anything else is run: the first operation with each root, or the first one
/// where roots stay. Ranks meet between them.
FirstCalls run_first(const Case& what, Workload& workload, const RunAll& run_all);

/// Every element of every result compared; the number of wrong results.
std::uint64_t run_verification(const Case& what, Workload& workload, const RunAll& run_all,
                               std::uint64_t operations);

} // namespace corymb::bench

// SPDX-License-Identifier: Apache-2.0
// One case, all contestants side by side: they take turns in slots of some milliseconds, in an
// order shuffled anew each round, until the case's time is used up.
#pragma once

#include "../case.hpp"
#include "../statistics.hpp"
#include "contestants.hpp"

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace corymb::bench {

struct Schedule {
    std::int64_t begin_ns = 0; ///< Monotonic.
    std::int64_t end_ns = 0;   ///< No slot begins after this.
    std::int64_t slot_ns = 0;  ///< Wanted length; 0: chosen from the time and the contestants.
    std::uint64_t seed = 1;
};

/// What is known about one contestant in one case.
struct Outcome {
    Contestant contestant;
    Quartiles operation_ns;
    double cpu_ns = 0; ///< Median over slots of the CPU time of all ranks per operation.
    /// The first operation of all, and then the first one with each further root.
    std::vector<double> first_ns;
    std::size_t slots = 0;
    std::string skipped; ///< Why there is no measurement; empty when there is one.
};

/// Called with the part that is done, 0 to 1.
using Progress = std::function<void(double)>;

/// Throws Interrupted. All processes it starts are gone when it returns or throws.
std::vector<Outcome> measure_case(const Case& what, const std::vector<Contestant>& contestants,
                                  const Schedule& schedule, const Progress& progress);

} // namespace corymb::bench

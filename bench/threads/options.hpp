// SPDX-License-Identifier: Apache-2.0
// The command line of corymb-bench.
#pragma once

#include "arguments.hpp"
#include "case.hpp"

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace corymb::bench {

enum class Pin : std::uint8_t { automatic, yes, no };
enum class Mode : std::uint8_t { measure, list, predict, help };

struct Options {
    Mode mode = Mode::measure;
    std::vector<Operation> ops;
    std::vector<int> threads;       ///< Empty: every CPU, and the oversubscribed counts up to 32.
    std::vector<std::size_t> bytes; ///< Empty: 8 to 1 MiB.
    std::vector<Regime> regimes;    ///< Empty: what makes sense for the operation.
    std::vector<std::string> only;  ///< Contestants to keep, by name or family; empty: all.
    Pin pin = Pin::automatic;
    double seconds = 60;
    double slot_ms = 0; ///< 0: chosen from the time and the contestants.
    std::uint64_t seed = 1;
    int plans = 44;    ///< predict: number of plans.
    std::string model; ///< predict: model file; empty: the cached one, else a new measurement.
};

/// Throws UsageError.
Options parse_options(const std::vector<std::string>& words);
std::string usage();

/// The cases that the options ask for, in the order of the report. `cpus`: how many there are.
std::vector<Case> cases_of(const Options& options, int cpus);

} // namespace corymb::bench

// SPDX-License-Identifier: Apache-2.0
// What else happens on the machine while it is measured.
#pragma once

#include "machine/discover/crew.hpp"

#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace corymb::discover {

/// CPU time of all CPUs so far, in clock ticks of the kernel.
struct CpuTimes {
    std::int64_t total = 0;
    std::int64_t steal = 0;
    std::int64_t idle = 0;
};
/// The first line of a /proc/stat file.
std::optional<CpuTimes> read_cpu_times(const std::filesystem::path& file);

/// Share of the time between two readings that the hypervisor gave to others; 0 for no time.
double stolen_share(const CpuTimes& before, const CpuTimes& after);

/// Binds a thread to each of the CPUs in turn and looks where it runs for a while. Returns those on
/// which it did not stay.
std::vector<int> pin_test(Crew& crew, std::span<const int> cpus);

} // namespace corymb::discover

// SPDX-License-Identifier: Apache-2.0
#include "machine/discover/noise.hpp"

#include "base/clock.hpp"
#include "base/small_file.hpp"

#include <sched.h>

#include <algorithm>
#include <array>
#include <sstream>

namespace corymb::discover {

std::optional<CpuTimes> read_cpu_times(const std::filesystem::path& file) {
    // "cpu user nice system idle iowait irq softirq steal guest guest_nice": the guests' time is
    // part of user time already.
    std::istringstream line(read_small_file(file).value_or(""));
    std::string name;
    std::array<std::int64_t, 8> field{};
    if (!(line >> name) || name != "cpu") {
        return std::nullopt;
    }
    CpuTimes times;
    for (std::int64_t& value : field) {
        if (!(line >> value)) {
            return std::nullopt;
        }
        times.total += value;
    }
    times.idle = field[3] + field[4];
    times.steal = field[7];
    return times;
}

double stolen_share(const CpuTimes& before, const CpuTimes& after) {
    const auto total = static_cast<double>(after.total - before.total);
    const auto steal = static_cast<double>(after.steal - before.steal);
    return total > 0 ? std::clamp(steal / total, 0.0, 1.0) : 0;
}

std::vector<int> pin_test(Crew& crew, std::span<const int> cpus) {
    std::vector<int> strayed;
    for (const int cpu : cpus) {
        bool stayed = true;
        crew.run(std::span(&cpu, 1), [&](int) {
            const std::int64_t begin = now_ns();
            while (now_ns() - begin < 200'000) {
                stayed = stayed && sched_getcpu() == cpu;
            }
        });
        if (!stayed) {
            strayed.push_back(cpu);
        }
    }
    return strayed;
}

} // namespace corymb::discover

// SPDX-License-Identifier: Apache-2.0
#include "machine/discover/bandwidth.hpp"

#include "base/clock.hpp"
#include "base/small_file.hpp"

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <memory>
#include <new>
#include <sstream>
#include <utility>

namespace corymb::discover {
namespace {

using Words = std::unique_ptr<std::uint64_t[]>;

Words try_allocate(std::size_t words) {
    Words memory(new (std::nothrow) std::uint64_t[words]);
    if (memory) {
        std::memset(memory.get(), 1, words * sizeof(std::uint64_t)); // Touches every page.
    }
    return memory;
}

/// Four independent sums, so that the loop is bound by memory and not by the adder.
std::uint64_t read_all(const std::uint64_t* from, std::size_t words) {
    std::uint64_t sums[4] = {};
    for (std::size_t i = 0; i + 4 <= words; i += 4) {
        for (std::size_t lane = 0; lane < 4; ++lane) {
            sums[lane] += from[i + lane];
        }
    }
    return sums[0] + sums[1] + sums[2] + sums[3];
}

/// Keeps the compiler from dropping work whose result nobody uses.
void keep(const void* memory, std::uint64_t value) {
    __asm__ __volatile__("" ::"r"(memory), "r"(value) : "memory");
}

/// 10^9 bytes per second of the best of three repetitions that last about 3 ms each: interruptions
/// only ever slow it down.
template <class Pass>
double rate_gbs(std::int64_t bytes, Pass pass) {
    double best = 0;
    pass();
    for (int repetition = 0; repetition < 3; ++repetition) {
        const std::int64_t begin = now_ns();
        std::int64_t passes = 0;
        std::int64_t spent = 0;
        do {
            pass();
            ++passes;
            spent = now_ns() - begin;
        } while (spent < 3'000'000);
        best = std::max(best, static_cast<double>(bytes * passes) / static_cast<double>(spent));
    }
    return best;
}

} // namespace

std::vector<WorkingSet> working_sets(std::int64_t l1, std::int64_t l2, std::int64_t l3,
                                     std::int64_t available_bytes) {
    constexpr std::int64_t mebi = 1 << 20;
    std::vector<WorkingSet> sets;
    const std::pair<const char*, std::int64_t> caches[] = {{"l1", l1}, {"l2", l2}, {"l3", l3}};
    for (const auto& [level, bytes] : caches) {
        if (bytes > 0) {
            sets.push_back({level, bytes / 2});
        }
    }
    const std::int64_t largest = std::max({l1, l2, l3});
    const std::int64_t most = std::min(512 * mebi, available_bytes / 8);
    const std::int64_t dram = std::min(std::max(16 * mebi, 4 * largest), most);
    if (dram > largest && dram >= mebi) {
        sets.push_back({"dram", dram});
    }
    return sets;
}

std::int64_t available_memory() {
    std::istringstream lines(read_small_file("/proc/meminfo").value_or(""));
    std::string name;
    std::int64_t kibibytes = 0;
    for (std::string line; std::getline(lines, line);) {
        std::istringstream fields(line);
        if (fields >> name >> kibibytes && name == "MemAvailable:") {
            return kibibytes * 1024;
        }
    }
    return 0;
}

std::vector<MemoryLevel> measure_bandwidth(const std::vector<WorkingSet>& sets,
                                           const std::function<bool(double)>& keep_going) {
    std::vector<MemoryLevel> levels;
    for (const WorkingSet& set : sets) {
        // One pass to touch the pages and four of each kind, on a machine of the slow sort.
        constexpr double slow_bytes_per_s = 2e9;
        constexpr double least_s = 0.03;
        if (!keep_going(least_s + 13 * static_cast<double>(set.bytes) / slow_bytes_per_s)) {
            continue;
        }
        const std::size_t words = static_cast<std::size_t>(set.bytes) / sizeof(std::uint64_t);
        const Words memory = try_allocate(words);
        if (!memory || words < 8) {
            continue;
        }
        MemoryLevel level;
        level.level = set.level;
        level.working_set_bytes = set.bytes;
        level.read_gbs =
            rate_gbs(set.bytes, [&] { keep(memory.get(), read_all(memory.get(), words)); });
        level.write_gbs = rate_gbs(set.bytes, [&] {
            std::memset(memory.get(), 2, words * sizeof(std::uint64_t));
            keep(memory.get(), 0);
        });
        // Both halves together are the working set; a byte that is read and written counts once.
        const std::size_t half = words / 2;
        level.copy_gbs = rate_gbs(set.bytes / 2, [&] {
            std::memcpy(memory.get() + half, memory.get(), half * sizeof(std::uint64_t));
            keep(memory.get(), 0);
        });
        levels.push_back(level);
    }
    return levels;
}

} // namespace corymb::discover

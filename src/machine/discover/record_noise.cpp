// SPDX-License-Identifier: Apache-2.0
#include "base/clock.hpp"
#include "machine/discover/crew.hpp"
#include "machine/discover/this_machine.hpp"
#include "machine/discover/ticks.hpp"

#include <corymb/discover.hpp>
#include <corymb/error.hpp>
#include <corymb/usable_cpus.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <set>
#include <span>
#include <utility>
#include <vector>

namespace corymb {

namespace {

using discover::Ticks;

/// Interruptions of one CPU: 3 MB of memory.
constexpr std::size_t interruptions_most = 200'000;
/// Interruptions of all CPUs. Each takes about 32 bytes of the file, which has at most 64 MiB.
constexpr std::size_t interruptions_of_file = 1'500'000;
/// An interval between two reads that is so many times the shortest one was interrupted. Reads vary
/// by a factor of about two by themselves; an interrupt takes some hundred cycles at least. Too
/// small: slow reads count as noise. Too large: short interrupts are missed.
constexpr double intervals_of_threshold = 10;
constexpr Ticks stop_is_looked_at_every = 4096; // Reads.

struct Watched {
    /// The reads before and behind an interruption. Filled beforehand, so that its memory is there.
    std::vector<std::pair<Ticks, Ticks>> gaps;
    std::size_t count = 0;
    Ticks begin = 0;
    Ticks end = 0;
};

/// The shortest interval between two reads.
Ticks shortest_interval() {
    Ticks shortest = std::numeric_limits<Ticks>::max();
    Ticks before = discover::ticks();
    for (int i = 0; i < 100'000; ++i) {
        const Ticks now = discover::ticks();
        shortest = now > before ? std::min(shortest, now - before) : shortest;
        before = now;
    }
    return shortest;
}

/// Reads the clock for so many ticks.
void watch(Watched& watched, Ticks duration, Ticks threshold, const std::atomic<bool>& stop) {
    watched.begin = discover::ticks();
    Ticks before = watched.begin;
    for (Ticks reads = 1; before - watched.begin < duration; ++reads) {
        const Ticks now = discover::ticks();
        if (now - before > threshold) {
            watched.gaps[watched.count++] = {before, now};
            if (watched.count == watched.gaps.size()) {
                before = now;
                break;
            }
        }
        before = now;
        if (reads % stop_is_looked_at_every == 0 && stop.load(std::memory_order_relaxed)) {
            break;
        }
    }
    watched.end = before;
}

CpuNoise noise_of(int cpu, const Watched& watched, double ns_per_tick, Ticks interval) {
    // Whole numbers make a short file.
    const auto ns = [ns_per_tick](Ticks ticks) {
        return std::round(static_cast<double>(ticks) * ns_per_tick);
    };
    CpuNoise noise;
    noise.cpu = cpu;
    noise.recorded_ns = ns(watched.end - watched.begin);
    for (const auto& [before, behind] : std::span(watched.gaps).first(watched.count)) {
        // The read itself belongs to the work.
        const double begin = ns(before - watched.begin);
        noise.interruptions.push_back({begin, ns(behind - interval - watched.begin) - begin});
    }
    return noise;
}

std::vector<int> chosen_cpus(const RecordNoiseOptions& options) {
    const std::vector<int> allowed = usable_cpus().allowed;
    if (options.cpus.empty()) {
        return allowed;
    }
    std::set<int> taken;
    for (const int cpu : options.cpus) {
        if (std::ranges::find(allowed, cpu) == allowed.end() || !taken.insert(cpu).second) {
            throw Error(Errc::invalid_argument,
                        fmt::format("CPU {} may not be used, or is named twice", cpu));
        }
    }
    return options.cpus;
}

} // namespace

NoiseTrace record_noise(const RecordNoiseOptions& options) {
    if (!(options.seconds >= 0.01 && options.seconds <= 3600)) {
        throw Error(
            Errc::invalid_argument,
            fmt::format("noise is recorded for 0.01 to 3600 seconds, not {}", options.seconds));
    }
    const std::vector<int> cpus = chosen_cpus(options);
    const std::int64_t began_ns = now_ns();
    discover::Crew crew([&] {
        const double done = static_cast<double>(now_ns() - began_ns) / (options.seconds * 1e9);
        return !options.progress || options.progress(std::min(done, 1.0), "watching the CPUs");
    });
    const discover::TickScale scale = discover::calibrate_ticks();
    const Ticks interval = shortest_interval();
    const auto threshold =
        static_cast<Ticks>(intervals_of_threshold * static_cast<double>(interval));
    const auto duration = static_cast<Ticks>(options.seconds * 1e9 / scale.ns_per_tick);
    std::vector<Watched> watched(cpus.size());
    for (Watched& one : watched) {
        one.gaps.resize(std::min(interruptions_most, interruptions_of_file / cpus.size()));
    }
    crew.run(cpus, [&](int index) {
        watch(watched[static_cast<std::size_t>(index)], duration, threshold, crew.stop());
    });
    if (crew.refused()) {
        throw Error(Errc::interrupted, "the recording was stopped");
    }
    if (!crew.pinned()) {
        throw Error(Errc::unsupported, "threads cannot be bound to CPUs here; corymb doctor says "
                                       "what is missing");
    }
    NoiseTrace trace;
    trace.name = discover::host_name();
    trace.created = discover::utc_now();
    trace.source =
        fmt::format("a clock loop on each of {} CPUs for {} s", cpus.size(), options.seconds);
    trace.threshold_ns = static_cast<double>(threshold) * scale.ns_per_tick;
    for (std::size_t i = 0; i < cpus.size(); ++i) {
        trace.cpus.push_back(noise_of(cpus[i], watched[i], scale.ns_per_tick, interval));
    }
    trace.check();
    return trace;
}

} // namespace corymb

// SPDX-License-Identifier: Apache-2.0
#include "base/cpu_list.hpp"
#include "base/usable_cpus.hpp"
#include "machine/discover/crew.hpp"
#include "machine/discover/noise.hpp"
#include "machine/discover/permissions.hpp"
#include "machine/discover/ticks.hpp"

#include <corymb/error.hpp>
#include <corymb/usable_cpus.hpp>

#include <fmt/format.h>

#include <cerrno>
#include <string>
#include <vector>

#if defined(__x86_64__)
#include <cpuid.h>
#endif

namespace corymb::discover {

namespace {

/// Tried on the calling thread, whose mask is put back.
std::string why_not_bound(const std::vector<int>& cpus) {
    const AffinityGuard guard;
    for (const int cpu : cpus) {
        errno = 0;
        if (!set_affinity_mask({cpu})) {
            return errno == EINVAL
                       ? fmt::format("CPU {} went offline or left the cpuset; try again", cpu)
                       : refusal(errno, "sched_setaffinity");
        }
    }
    return "the kernel or sandbox accepts sched_setaffinity and moves threads all the same; run "
           "outside of it";
}

} // namespace

Permission probe_pinning() {
    Permission row{"pinning", false, {}};
    const std::vector<int> allowed = usable_cpus().allowed;
    if (allowed.empty()) {
        row.detail = "the affinity mask cannot be read; teams run unbound and nothing is measured";
        return row;
    }
    try {
        Crew crew([] { return true; });
        const std::vector<int> ends = {allowed.front(), allowed.back()};
        row.available = pin_test(crew, ends).empty() && crew.pinned();
    } catch (const Error& error) {
        row.detail = error.what();
        return row;
    }
    row.detail = row.available
                     ? fmt::format("threads stay where they are bound; allowed CPUs: {}",
                                   format_cpu_list(allowed))
                     : "threads cannot be bound, so pairs of CPUs cannot be told apart: " +
                           why_not_bound({allowed.front(), allowed.back()});
    return row;
}

Permission probe_quota() {
    const UsableCpus usable = usable_cpus();
    Permission row{"CPU quota", true, {}};
    const auto cpus = static_cast<double>(usable.allowed.size());
    if (!usable.quota) {
        row.detail = fmt::format("no limit: {} CPUs at all times", usable.allowed.size());
    } else if (*usable.quota >= cpus) {
        row.detail = fmt::format("{:.2f} CPUs' worth of time, enough for the {} allowed CPUs",
                                 *usable.quota, usable.allowed.size());
    } else {
        row.available = false;
        row.detail =
            fmt::format("{:.2f} CPUs' worth of time for {} allowed CPUs: more than {} ranks "
                        "are stopped for up to 100 ms at a time; raise the cgroup's cpu.max "
                        "or use fewer ranks",
                        *usable.quota, usable.allowed.size(), usable.count());
    }
    return row;
}

Permission probe_tick_counter() {
    Permission row{"invariant cycle counter", ticks_are_invariant(), {}};
    const DriftCheck drift;
    const TickScale scale = calibrate_ticks();
    row.detail =
        fmt::format("{:.3f} ns a tick, {:.0f} ns to read", scale.ns_per_tick, scale.overhead_ns);
    if (!row.available) {
        row.detail += "; it may change its rate, so measured costs may be off; run on a host whose "
                      "clock source is tsc";
    }
    return row;
}

Permission probe_user_wait() {
    Permission row{"umwait", false, {}};
#if defined(__x86_64__)
    unsigned eax = 0;
    unsigned ebx = 0;
    unsigned ecx = 0;
    unsigned edx = 0;
    row.available = __get_cpuid_count(7, 0, &eax, &ebx, &ecx, &edx) != 0 && (ecx & (1u << 5)) != 0;
    row.detail = row.available
                     ? "the processor can wait for a line in user mode (waitpkg)"
                     : "the processor (or the hypervisor) does not offer waitpkg; waiting "
                       "threads spin with pause and then sleep, nothing is lost but power";
#else
    row.detail = "only x86 processors have it; waiting threads spin and then sleep";
#endif
    return row;
}

} // namespace corymb::discover

// SPDX-License-Identifier: Apache-2.0
#include "channel/waiter_cpus.hpp"

#include "base/clock.hpp"
#include "base/fork_count.hpp"
#include "base/random.hpp"
#include "channel/tuning.hpp"

#include <sched.h>
#include <unistd.h>

namespace corymb::channel {

namespace {

constexpr ArenaKey arena_key{0, 0, -1, -1, 0x7375'7063'7265'7469}; // "itercpus"

/// A mark of the calling thread. It most probably differs for any two threads of the machine,
/// whatever namespaces their processes are in, because time and place are in it, too.
std::uint32_t own_mark() noexcept {
    struct Mark {
        std::uint32_t value = 0;
        std::uint32_t forks = 0;
    };
    thread_local Mark mark;
    if (mark.value == 0 || mark.forks != fork_count()) [[unlikely]] {
        const auto seed = static_cast<std::uint64_t>(now_ns()) ^
                          (static_cast<std::uint64_t>(::getpid()) << 40U) ^
                          reinterpret_cast<std::uintptr_t>(&mark);
        mark.value = static_cast<std::uint32_t>(Random(seed).next() >> 40U) | 1U;
        mark.forks = fork_count();
    }
    return mark.value;
}

} // namespace

WaiterCpus& WaiterCpus::of(Arena& arena) {
    return arena.find_or_make<WaiterCpus>(arena_key);
}

bool CpuMates::are_here(std::int64_t now_ns) noexcept {
    if (cpus_ == nullptr) {
        return false;
    }
    cpu_ = ::sched_getcpu();
    if (cpu_ < 0) {
        return false;
    }
    const bool has_met = cpus_->meet(cpu_, own_mark(), now_ns);
    return has_met || (cpu_ == shared_cpu_ && now_ns < shared_until_ns_);
}

void CpuMates::note_waker(int cpu, std::int64_t now_ns) noexcept {
    if (cpu >= 0 && cpu == cpu_) {
        shared_cpu_ = cpu;
        shared_until_ns_ = now_ns + tuning::shared_for_ns;
    }
}

} // namespace corymb::channel

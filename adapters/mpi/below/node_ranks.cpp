// SPDX-License-Identifier: Apache-2.0
#include "below/node_ranks.hpp"

#include "below/host.hpp"

#include <algorithm>
#include <atomic>
#include <charconv>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <sched.h>
#include <system_error>
#include <unistd.h>

namespace corymb::mpi {

namespace {

#if defined(OPEN_MPI)
constexpr const char* ranks_here = "OMPI_COMM_WORLD_LOCAL_SIZE";
#else
// Set by Hydra, the launcher of MPICH and Intel MPI.
constexpr const char* ranks_here = "MPI_LOCALNRANKS";
#endif

/// Ranks on this node, by the launcher; 0: it does not say, or another job's has said it.
int launched_here() noexcept {
    const char* const text = std::getenv(ranks_here);
    int here = 0;
    int all = 0;
    const bool is_known = text != nullptr &&
                          std::from_chars(text, text + std::strlen(text), here).ec == std::errc{} &&
                          host().Comm_size(host().comm_world, &all) == MPI_SUCCESS;
    return is_known && here > 0 && here <= all ? here : 0;
}

/// A lower bound from the launcher and the CPUs of the node. The CPUs that ranks outside a
/// communicator may use are unknown: if these are kept to some, there may be more ranks on each.
int at_least() noexcept {
    const auto cpus = static_cast<int>(::sysconf(_SC_NPROCESSORS_ONLN));
    return cpus > 0 ? std::max(ranks_per_cpu(launched_here(), cpus), 1) : 1;
}

std::atomic<int>& known() noexcept {
    static std::atomic<int> ranks{at_least()};
    return ranks;
}

} // namespace

void CpuSet::add_own() noexcept {
    cpu_set_t own;
    CPU_ZERO(&own);
    ::sched_getaffinity(0, sizeof own, &own);
    for (std::size_t cpu = 0; cpu < std::size_t{64} * words; ++cpu) {
        if (CPU_ISSET(cpu, &own)) {
            word[cpu / 64] |= std::uint64_t{1} << cpu % 64;
        }
    }
}

ThreadTimes thread_times() noexcept {
    ThreadTimes times;
    if (std::FILE* const file = std::fopen("/proc/thread-self/schedstat", "re"); file != nullptr) {
        unsigned long long ran = 0;
        unsigned long long waited = 0;
        if (std::fscanf(file, "%llu %llu", &ran, &waited) == 2) {
            times = {ran, waited};
        }
        std::fclose(file);
    }
    return times;
}

int known_ranks_per_cpu() noexcept {
    return known().load(std::memory_order_relaxed);
}

void note_ranks_per_cpu(int ranks) noexcept {
    int most = known_ranks_per_cpu();
    while (most < ranks && !known().compare_exchange_weak(most, ranks, std::memory_order_relaxed)) {
    }
}

} // namespace corymb::mpi

// SPDX-License-Identifier: Apache-2.0
// How many ranks of the program share a CPU of this node, as far as this process knows. A
// communicator of two ranks has a CPU for each, and yet none to wait on when eight others want
// them.
#pragma once

#include <bit>
#include <cstdint>

namespace corymb::mpi {

/// CPUs that a rank may use; after a bitwise or over several ranks, CPUs that one of them may use.
struct CpuSet {
    static constexpr int words = 16;
    std::uint64_t word[words] = {};

    /// Adds the CPUs of the calling thread; none, when the kernel refuses to tell.
    void add_own() noexcept;
    [[nodiscard]] int count() const noexcept {
        int all = 0;
        for (const std::uint64_t one : word) {
            all += std::popcount(one);
        }
        return all;
    }
};

/// Ranks a CPU if so many ranks are spread evenly over these CPUs. If the CPUs are unknown: all
/// ranks.
[[nodiscard]] constexpr int ranks_per_cpu(int ranks, int cpus) noexcept {
    return cpus == 0 ? ranks : (ranks + cpus - 1) / cpus;
}

/// The most ranks a CPU that any communicator has found, or that follow from the launcher's number
/// of ranks on this node. 1: each rank has a CPU, or nothing is known. Processes may know different
/// numbers: ranks that decide by it agree first.
[[nodiscard]] int known_ranks_per_cpu() noexcept;
void note_ranks_per_cpu(int ranks) noexcept;

/// How long the calling thread has had a CPU, and has waited for one when it could have run, since
/// it began. 0: the kernel does not say.
struct ThreadTimes {
    std::uint64_t ran_ns = 0;
    std::uint64_t waited_ns = 0;
};
[[nodiscard]] ThreadTimes thread_times() noexcept;

} // namespace corymb::mpi

// SPDX-License-Identifier: Apache-2.0
// How many ranks of the program take turns on a CPU of this node, as far as this process knows. A
// communicator of two ranks has a CPU for each, and yet none to wait on when eight others want
// them.
#pragma once

#include <bit>
#include <cstdint>

namespace corymb::mpi {

/// CPUs that a rank may use, or with the bitwise or of those of several ranks, one of these.
struct CpuSet {
    static constexpr int words = 16;
    std::uint64_t word[words] = {};

    /// Those of the calling thread; none, when the kernel refuses to tell.
    void add_own() noexcept;
    [[nodiscard]] int count() const noexcept {
        int all = 0;
        for (const std::uint64_t one : word) {
            all += std::popcount(one);
        }
        return all;
    }
};

/// Of so many ranks on these CPUs, where none has more of them than others. Of unknown CPUs: all.
[[nodiscard]] constexpr int ranks_per_cpu(int ranks, int cpus) noexcept {
    return cpus == 0 ? ranks : (ranks + cpus - 1) / cpus;
}

/// The most that any communicator has found, or that follow from what the launcher says of its
/// ranks on this node. 1: they have a CPU each, or nothing is known. Processes may know different
/// numbers: ranks that decide by it agree first.
[[nodiscard]] int known_ranks_per_cpu() noexcept;
void note_ranks_per_cpu(int ranks) noexcept;

} // namespace corymb::mpi

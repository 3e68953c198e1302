// SPDX-License-Identifier: Apache-2.0
// How many ranks of the program take turns on a CPU of this node. A communicator of two ranks has
// a CPU for each, and yet none to wait on when eight others want them.
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

/// Of the node; the same for all its ranks. 1: they have a CPU each, or are not counted.
[[nodiscard]] int node_ranks_per_cpu() noexcept;
/// So many ranks take turns on each of these CPUs where no rank has more of them than others; or
/// more, when all ranks of this node do. The same for ranks of a node that give the same.
[[nodiscard]] int ranks_per_cpu(int ranks, const CpuSet& cpus) noexcept;

} // namespace corymb::mpi

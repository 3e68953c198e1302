// SPDX-License-Identifier: Apache-2.0
// A cell of the waiting map: one operation under one load of the machine.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

namespace corymb::bench {

enum class WaitingOp : std::uint8_t {
    barrier,
    broadcast,
    reduce,
    allreduce,
    scatter,
    gather,
    alltoall,
    mailbox,   ///< A message goes round all ranks.
    ring,      ///< One publishes, and all others read.
    multicast, ///< Rank 0 calls all others, and returns when they have run it.
};

enum class Neighbours : std::uint8_t {
    none,
    one, ///< A foreign process spins on one of the cell's CPUs.
    all, ///< One spins on each of them.
};

struct Cell {
    WaitingOp op = WaitingOp::barrier;
    int ranks = 2;
    std::size_t bytes = 0; ///< Of one rank's part; 0 for a barrier, else a multiple of 8.
    int cpus = 1;          ///< CPUs that all ranks share.
    Neighbours neighbours = Neighbours::none;
    bool between_processes = false;

    /// Elements of one part.
    [[nodiscard]] std::size_t count() const noexcept { return bytes / sizeof(double); }
    /// Parts of a rank's input and output.
    [[nodiscard]] std::size_t input_parts(int rank, int root) const noexcept;
    [[nodiscard]] std::size_t output_parts(int rank, int root) const noexcept;
    /// Whether another rank is the root of each call.
    [[nodiscard]] bool has_roots() const noexcept;
    /// Calls until each root has had its turn. At most 8 ranks are roots, evenly spread: a figure
    /// is the mean of a round, and more roots would leave too few figures for a percentile.
    [[nodiscard]] int round() const noexcept;
    [[nodiscard]] int root_of(std::uint64_t call) const noexcept;
};

/// `OP/RANKS/BYTES/CPUS/NEIGHBOURS/KIND`, such as `alltoall/16/4096/2/one/threads`. Throws
/// UsageError.
[[nodiscard]] Cell cell_from(const std::string& word);
/// The names of a row.
[[nodiscard]] std::string to_string(WaitingOp op);
[[nodiscard]] std::string to_string(Neighbours neighbours);

} // namespace corymb::bench

// SPDX-License-Identifier: Apache-2.0
// Who does an operation of a size on a communicator, corymb or the MPI below. The program's own
// first calls are the measurement: some go to each, and the ranks agree which took longer. As in
// Faraj, Yuan, Lowenthal: "STAR-MPI: self tuned adaptive routines for MPI collective operations"
// (ICS 2006).
#pragma once

#include "call.hpp"
#include "host.hpp"

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <map>
#include <vector>

namespace corymb::mpi {

enum class Verdict : std::uint8_t { open, corymb, mpi };

/// Calls of one operation and size class while it is open which of the two is faster.
class Trial {
public:
    /// The next call is the MPI's.
    [[nodiscard]] bool is_for_mpi() const noexcept { return calls_ / calls_each % 2 == 1; }
    /// Before the first call; throws std::bad_alloc.
    void reserve() {
        corymb_ns_.reserve(calls_each);
        mpi_ns_.reserve(calls_each);
    }
    /// A call is over, which took this rank so long.
    void add(std::int64_t ns) noexcept;
    [[nodiscard]] bool is_over() const noexcept { return calls_ == visits * calls_each; }
    /// Collective over the communicator, after the last call. All ranks find the same.
    [[nodiscard]] Verdict agree(MPI_Comm comm) noexcept;

private:
    static constexpr int calls_each = 8;
    /// Two each, in turns. The first ones are not counted, in which plans are made and memory is
    /// touched: large messages of an MPI may go through fresh memory for several calls.
    static constexpr int visits = 4;

    int calls_ = 0;
    std::vector<std::int64_t> corymb_ns_;
    std::vector<std::int64_t> mpi_ns_;
};

/// Of one communicator. `bytes` must be the same on all ranks.
class Choice {
public:
    [[nodiscard]] Verdict of(Operation operation, std::uint64_t bytes) const noexcept {
        return verdicts_[place(operation, bytes)];
    }
    /// The trial of what is open; throws std::bad_alloc.
    [[nodiscard]] Trial& trial(Operation operation, std::uint64_t bytes) {
        return trials_[place(operation, bytes)];
    }
    void settle(Operation operation, std::uint64_t bytes, Verdict verdict) {
        verdicts_[place(operation, bytes)] = verdict;
        trials_.erase(place(operation, bytes));
    }
    /// Nothing is tried.
    void give_all_to_corymb() noexcept { verdicts_.fill(Verdict::corymb); }

private:
    static constexpr std::size_t size_classes = 65; ///< Powers of two.
    static constexpr std::size_t operations = 22;

    [[nodiscard]] static std::size_t place(Operation operation, std::uint64_t bytes) noexcept {
        return static_cast<std::size_t>(operation) * size_classes +
               static_cast<std::size_t>(std::bit_width(bytes));
    }

    std::array<Verdict, operations * size_classes> verdicts_{};
    std::map<std::size_t, Trial> trials_;
};

} // namespace corymb::mpi

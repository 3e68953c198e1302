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
    /// Of calls of about so many bytes: of long ones few take long enough.
    explicit Trial(std::uint64_t bytes) noexcept : calls_each_(bytes < long_bytes ? 8 : 4) {}

    /// The next call is the MPI's.
    [[nodiscard]] bool is_for_mpi() const noexcept { return calls_ / calls_each_ % 2 == 1; }
    /// Before each call; throws std::bad_alloc.
    void reserve() {
        corymb_ns_.reserve(static_cast<std::size_t>(calls_each_));
        mpi_ns_.reserve(static_cast<std::size_t>(calls_each_));
    }
    /// A call is over, which took this rank so long.
    void add(std::int64_t ns) noexcept;
    [[nodiscard]] bool is_over() const noexcept { return calls_ == visits * calls_each_; }
    /// Collective over the communicator, after the last call; `bytes` are those of the calls. All
    /// ranks find the same.
    [[nodiscard]] Verdict agree(MPI_Comm comm, std::uint64_t bytes) noexcept;
    /// After `agree`: after how many calls it is tried again; 0: never. The number grows with each
    /// trial.
    [[nodiscard]] std::uint32_t calls_until_next() const noexcept { return calls_until_next_; }

private:
    /// `slower_ns` is the loser's time, `faster_ns` the winner's.
    void plan_next(Verdict winner, std::uint64_t faster_ns, std::uint64_t slower_ns,
                   std::uint64_t bytes) noexcept;

    static constexpr std::uint64_t long_bytes = 65536;
    /// Two each, in turns. The first ones are not counted, in which plans are made and memory is
    /// touched: large messages of an MPI may go through fresh memory for several calls. Later
    /// trials have one each.
    static constexpr int visits = 4;

    int calls_each_;
    int calls_ = 0;
    int trials_ = 0; ///< That are over.
    std::uint32_t calls_until_next_ = 0;
    std::vector<std::int64_t> corymb_ns_;
    std::vector<std::int64_t> mpi_ns_;
};

/// Of one communicator. `bytes` must be the same on all ranks.
class Choice {
public:
    /// Who does the next call.
    [[nodiscard]] Verdict next(Operation operation, std::uint64_t bytes) noexcept {
        State& state = states_[place(operation, bytes)];
        if (state.calls_left != 0 && --state.calls_left == 0) [[unlikely]] {
            state.verdict = Verdict::open;
        }
        return state.verdict;
    }
    /// The trial of what is open; throws std::bad_alloc.
    [[nodiscard]] Trial& trial(Operation operation, std::uint64_t bytes) {
        return trials_.try_emplace(place(operation, bytes), bytes).first->second;
    }
    /// After its trial.
    void settle(Operation operation, std::uint64_t bytes, Verdict verdict) {
        const std::size_t where = place(operation, bytes);
        states_[where] = {verdict, trials_.at(where).calls_until_next()};
    }
    /// Calls of fewer bytes, about, are not tried; without a number, none.
    void give_to_corymb(std::uint64_t below = ~std::uint64_t{0}) noexcept {
        const auto classes = static_cast<std::size_t>(std::bit_width(below - 1)) + 1;
        for (std::size_t where = 0; where < states_.size(); ++where) {
            if (where % size_classes < classes) {
                states_[where] = {Verdict::corymb, 0};
            }
        }
    }

private:
    struct State {
        Verdict verdict = Verdict::open;
        std::uint32_t calls_left = 0; ///< Until the next trial; 0: there is none.
    };

    static constexpr std::size_t size_classes = 65; ///< Powers of two.
    static constexpr std::size_t operations = 22;

    [[nodiscard]] static std::size_t place(Operation operation, std::uint64_t bytes) noexcept {
        return static_cast<std::size_t>(operation) * size_classes +
               static_cast<std::size_t>(std::bit_width(bytes));
    }

    std::array<State, operations * size_classes> states_{};
    std::map<std::size_t, Trial> trials_;
};

} // namespace corymb::mpi

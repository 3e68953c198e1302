// SPDX-License-Identifier: Apache-2.0
// Which library does the next call of each operation and size of a communicator: the state between
// trials.
#pragma once

#include "policy/trial.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <map>

namespace corymb::mpi {

/// The choices of one communicator. `bytes` must be equal on all ranks.
class Choice {
public:
    /// The library that does the next call.
    [[nodiscard]] Verdict next(Operation operation, std::uint64_t bytes) noexcept {
        State& state = states_[place(operation, bytes)];
        if (state.number != 0 && --state.number == 0) [[unlikely]] {
            state.verdict = Verdict::open;
        }
        return state.verdict;
    }
    /// Whether `next` will give the call to the MPI.
    [[nodiscard]] bool is_mpis(Operation operation, std::uint64_t bytes) const noexcept {
        const State& state = states_[place(operation, bytes)];
        return state.verdict == Verdict::mpi && state.number != 1;
    }
    /// The library that does the next call, for calls in which ranks agree only at synchronisation
    /// points, of which there were so many. An operation that was not called before the last point
    /// is not open: there may be no more points.
    [[nodiscard]] Verdict next(Operation operation, std::uint64_t bytes,
                               std::uint32_t points) noexcept {
        State& state = states_[place(operation, bytes)];
        if (state.verdict != Verdict::open) [[likely]] {
            if (state.number == 0 || --state.number != 0) [[likely]] {
                return state.verdict;
            }
            state.verdict = Verdict::open;
        }
        const std::uint32_t now = points | 1U << 31; // Not 0, so that it counts as set.
        if (state.number == 0) {
            state.number = now;
            ++open_;
        }
        return state.number == now ? Verdict::corymb : Verdict::open;
    }
    /// Uncounts the last call, the MPI's: the MPI has refused it on this rank.
    void take_back(Operation operation, std::uint64_t bytes) noexcept {
        State& state = states_[place(operation, bytes)];
        state.number += state.verdict != Verdict::open && state.number != 0 ? 1 : 0;
    }
    /// Whether there is something of the kind that is to be tried or just is.
    [[nodiscard]] bool is_open() const noexcept { return open_ > 0; }
    /// The trial of an open operation; throws std::bad_alloc.
    [[nodiscard]] Trial& trial(Operation operation, std::uint64_t bytes) {
        return trials_.try_emplace(place(operation, bytes), bytes).first->second;
    }
    /// Records the verdict of a trial.
    void settle(Operation operation, std::uint64_t bytes, Verdict verdict) {
        const std::size_t where = place(operation, bytes);
        states_[where] = {verdict, trials_.at(where).calls_until_next()};
        open_ = std::max(open_ - 1, 0);
    }
    /// Calls `act(operation, bytes, trial)`, where `bytes` are the most of its calls, or any_bytes.
    template <class Act>
    void for_each_trial(const Act& act) {
        for (auto& [where, trial] : trials_) {
            const std::size_t size = where % size_classes;
            act(static_cast<Operation>(where / size_classes),
                size + 1 < size_classes ? (std::uint64_t{1} << size) - 1 : any_bytes, trial);
        }
    }
    /// Gives all calls to corymb without a trial.
    void give_to_corymb() noexcept { states_.fill({Verdict::corymb, 0}); }
    /// Whether calls of about so many bytes have not been made, and may be tried.
    [[nodiscard]] bool is_untried(Operation operation, std::uint64_t bytes) const noexcept {
        return states_[place(operation, bytes)].verdict == Verdict::open;
    }
    /// Gives the next `calls` calls to the MPI before the trial.
    void postpone(Operation operation, std::uint64_t bytes, std::uint32_t calls) noexcept {
        states_[place(operation, bytes)] = {Verdict::mpi, calls + 1};
    }

    static constexpr std::size_t size_classes = 48; ///< Powers of two; the last: of any size.
    [[nodiscard]] static std::size_t size_class(std::uint64_t bytes) noexcept {
        return std::min(static_cast<std::size_t>(std::bit_width(bytes)), size_classes - 1);
    }
    /// The number of calls of one kind, below `places`.
    [[nodiscard]] static std::size_t place(Operation operation, std::uint64_t bytes) noexcept {
        return static_cast<std::size_t>(operation) * size_classes + size_class(bytes);
    }
    static constexpr std::size_t places = translated_operations * size_classes;

private:
    struct State {
        Verdict verdict = Verdict::open;
        /// Settled: calls until the next trial; 0: there is none. Open: the synchronisation points
        /// before the first call.
        std::uint32_t number = 0;
    };

    std::array<State, places> states_{};
    int open_ = 0; ///< Open calls in which ranks cannot agree.
    std::map<std::size_t, Trial> trials_;
};

} // namespace corymb::mpi

// SPDX-License-Identifier: Apache-2.0
// Chooses for an operation of a size on a communicator between corymb and the MPI below. The
// program's own first calls are the measurement: each library gets some, and the ranks agree which
// took longer. See Faraj, Yuan, Lowenthal: "STAR-MPI: self tuned adaptive routines for MPI
// collective operations" (ICS 2006).
#pragma once

#include "below/call.hpp"
#include "below/host.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <map>
#include <utility>

namespace corymb::mpi {

enum class Verdict : std::uint8_t { open, corymb, mpi };

/// How long a call takes all its ranks together.
enum class Measure : std::uint8_t {
    /// The time of the rank that takes longest. For a rooted operation it gives the calls a second.
    longest,
    /// The time from the arrival of the last rank to the leaving of the last one. No rank can leave
    /// before all have come, and a rank that came early has waited for others, not for the
    /// operation. Needs equal clocks on all ranks; without them it is a rank's own time.
    from_last,
};
[[nodiscard]] Measure measure_of(Operation operation) noexcept;

/// Stands for calls whose size ranks do not know of each other; these are tried together.
inline constexpr std::uint64_t any_bytes = ~std::uint64_t{0};
inline constexpr std::array operations_of_any_size = {Operation::gatherv, Operation::scatterv,
                                                      Operation::alltoallv, Operation::alltoallw};
/// The bytes of a call for a Choice.
[[nodiscard]] constexpr std::uint64_t tried_bytes(Operation operation,
                                                  std::uint64_t bytes) noexcept {
    const bool is_of_any =
        std::ranges::find(operations_of_any_size, operation) != operations_of_any_size.end();
    return is_of_any ? any_bytes : bytes;
}

/// Calls of one operation and size class while it is open which of the two is faster.
class Trial {
public:
    /// Calls that count, of corymb's and of the MPI's, at most.
    static constexpr int calls_most = 8;
    /// When a call has begun and ended, by now_ns().
    struct Span {
        std::int64_t begin_ns;
        std::int64_t end_ns;
    };
    /// A call of the trial.
    struct Attempt {
        bool is_for_mpi;
        bool counts;
        int trial;
    };

    /// `bytes` is about the size of the calls. Long calls need fewer, because each takes long
    /// enough.
    Trial(std::uint64_t bytes, Measure measure) noexcept
        : measure_(measure),
          calls_each_(bytes < long_bytes || bytes == any_bytes ? calls_most : calls_most / 2) {}

    /// The next call.
    [[nodiscard]] Attempt begin() noexcept;
    /// Uncounts the call: the MPI has refused it on this rank.
    void take_back() noexcept { --calls_; }
    /// Adds the time of a call that is over on this rank. A call of an earlier trial no longer
    /// counts.
    void add(const Attempt& attempt, const Span& span) noexcept;
    /// All calls have begun.
    [[nodiscard]] bool is_over() const noexcept { return calls_ >= visits * calls_each_; }
    /// Collective over the communicator, after the last call; `bytes` are the size of the calls.
    /// All ranks get one verdict. If a rank has calls that are not over, the winner before stays,
    /// or else corymb. Open: the winner before has lost, and one more trial is due at once.
    [[nodiscard]] Verdict agree(MPI_Comm comm, std::uint64_t bytes) noexcept;
    /// After `agree`: after how many calls it is tried again; 0: never. The number grows with each
    /// trial.
    [[nodiscard]] std::uint32_t calls_until_next() const noexcept { return calls_until_next_; }
    /// The result of the last trial. 0 ns: unknown.
    struct Result {
        int trials = 0; ///< Trials that are over.
        std::uint64_t corymb_ns = 0;
        std::uint64_t mpi_ns = 0;
    };
    [[nodiscard]] const Result& result() const noexcept { return result_; }
    /// Trials that nobody has asked for in this way before.
    [[nodiscard]] int take_new_trials() noexcept {
        return result_.trials - std::exchange(told_, result_.trials);
    }

private:
    /// After a trial; `slower_ns` is the loser's time, `faster_ns` the winner's, which are equal
    /// where they are not known.
    Verdict decide(Verdict winner, std::uint64_t faster_ns, std::uint64_t slower_ns,
                   std::uint64_t bytes) noexcept;
    [[nodiscard]] bool has_all() const noexcept;
    struct Times {
        std::uint64_t corymb_ns;
        std::uint64_t mpi_ns;
    };
    /// Collective. False: the MPI cannot.
    [[nodiscard]] bool measure_longest(MPI_Comm comm, Times& times) const noexcept;
    [[nodiscard]] bool measure_from_last(MPI_Comm comm, Times& times) const noexcept;

    static constexpr std::uint64_t long_bytes = 65536;
    /// Two each, in turns. The first ones are not counted, in which plans are made and memory is
    /// touched: large messages of an MPI may go through fresh memory for several calls. Later
    /// trials have one each.
    static constexpr int visits = 4;

    /// The calls that count.
    struct Spans {
        std::array<Span, calls_most> list;
        int count = 0;
    };

    Measure measure_;
    int calls_each_;
    int calls_ = 0;
    std::uint32_t calls_until_next_ = 0;
    Verdict winner_ = Verdict::open; ///< Winner of the trials so far.
    int times_in_a_row_ = 0;         ///< Times that it has won again.
    bool is_doubted_ = false;        ///< The winner has just lost.
    Result result_;
    int told_ = 0; ///< Trials of the result that were told.
    Spans corymb_;
    Spans mpi_;
};

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
    /// The library that does the next call, for calls in which ranks agree only when they meet,
    /// `meetings` times so far. An operation that was not called before the last meeting is not
    /// open: there may be no more meetings.
    [[nodiscard]] Verdict next(Operation operation, std::uint64_t bytes,
                               std::uint32_t sync_points) noexcept {
        State& state = states_[place(operation, bytes)];
        if (state.verdict != Verdict::open) [[likely]] {
            if (state.number == 0 || --state.number != 0) [[likely]] {
                return state.verdict;
            }
            state.verdict = Verdict::open;
        }
        const std::uint32_t now = sync_points | 1U << 31; // Not 0, so that it counts as set.
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
    [[nodiscard]] Trial& trial(Operation operation, std::uint64_t bytes, Measure measure) {
        return trials_.try_emplace(place(operation, bytes), bytes, measure).first->second;
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
    /// Gives calls of fewer bytes, about, to corymb without a trial; without a number, all calls.
    void give_to_corymb(std::uint64_t below = ~std::uint64_t{0}) noexcept {
        const auto classes = static_cast<std::size_t>(std::bit_width(below - 1)) + 1;
        for (std::size_t where = 0; where < states_.size(); ++where) {
            if (where % size_classes < classes) {
                states_[where] = {Verdict::corymb, 0};
            }
        }
    }
    /// Gives operations_of_any_size to corymb without a trial.
    void give_any_size_to_corymb() noexcept {
        for (const Operation operation : operations_of_any_size) {
            states_[place(operation, any_bytes)] = {Verdict::corymb, 0};
        }
    }
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

private:
    struct State {
        Verdict verdict = Verdict::open;
        /// Settled: calls until the next trial; 0: there is none. Open: the meetings before the
        /// first call.
        std::uint32_t number = 0;
    };

    static constexpr auto operations = static_cast<std::size_t>(Operation::exscan) + 1;

    [[nodiscard]] static std::size_t place(Operation operation, std::uint64_t bytes) noexcept {
        return static_cast<std::size_t>(operation) * size_classes + size_class(bytes);
    }

    std::array<State, operations * size_classes> states_{};
    int open_ = 0; ///< Open calls in which ranks cannot agree.
    std::map<std::size_t, Trial> trials_;
};

} // namespace corymb::mpi

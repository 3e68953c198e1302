// SPDX-License-Identifier: Apache-2.0
// Who does an operation of a size on a communicator, corymb or the MPI below. The program's own
// first calls are the measurement: some go to each, and the ranks agree which took longer. As in
// Faraj, Yuan, Lowenthal: "STAR-MPI: self tuned adaptive routines for MPI collective operations"
// (ICS 2006).
#pragma once

#include "call.hpp"
#include "host.hpp"

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
    /// As long as the rank that takes longest: of a rooted operation it says how many go through in
    /// a second.
    longest,
    /// From the moment when the last rank has come until the last one leaves. Nobody can leave
    /// before all have come, and who has come early has waited for others, which is no fault of the
    /// operation. Clocks of ranks must be the same; where they are not, it is a rank's own time.
    from_last,
};
[[nodiscard]] Measure measure_of(Operation operation) noexcept;

/// Of calls whose size ranks do not know of each other, which are tried together.
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
    /// One of these calls.
    struct Attempt {
        bool is_for_mpi;
        bool counts;
        int trial;
    };

    /// Of calls of about so many bytes: of long ones few take long enough.
    Trial(std::uint64_t bytes, Measure measure) noexcept
        : measure_(measure),
          calls_each_(bytes < long_bytes || bytes == any_bytes ? calls_most : calls_most / 2) {}

    /// The next call.
    [[nodiscard]] Attempt begin() noexcept;
    /// It was none: the MPI has refused it on this rank.
    void take_back() noexcept { --calls_; }
    /// It is over on this rank. Of an earlier trial it says nothing any more.
    void add(const Attempt& attempt, const Span& span) noexcept;
    /// All calls have begun.
    [[nodiscard]] bool is_over() const noexcept { return calls_ >= visits * calls_each_; }
    /// Collective over the communicator, after the last call; `bytes` are those of the calls. All
    /// ranks find the same; where a rank has calls that are not over, who had won before, else
    /// corymb. Open: who had won before has lost, and it is to be tried once more at once.
    [[nodiscard]] Verdict agree(MPI_Comm comm, std::uint64_t bytes) noexcept;
    /// After `agree`: after how many calls it is tried again; 0: never. The number grows with each
    /// trial.
    [[nodiscard]] std::uint32_t calls_until_next() const noexcept { return calls_until_next_; }
    /// What the last trial has found. 0 ns: it was not known.
    struct Result {
        int trials = 0; ///< That are over.
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

    /// Those that count.
    struct Spans {
        std::array<Span, calls_most> list;
        int count = 0;
    };

    Measure measure_;
    int calls_each_;
    int calls_ = 0;
    std::uint32_t calls_until_next_ = 0;
    Verdict winner_ = Verdict::open; ///< Of the trials so far.
    int times_in_a_row_ = 0;         ///< That it has won again.
    bool is_doubted_ = false;        ///< It has just lost.
    Result result_;
    int told_ = 0; ///< Of its trials.
    Spans corymb_;
    Spans mpi_;
};

/// Of one communicator. `bytes` must be the same on all ranks.
class Choice {
public:
    /// Who does the next call.
    [[nodiscard]] Verdict next(Operation operation, std::uint64_t bytes) noexcept {
        State& state = states_[place(operation, bytes)];
        if (state.number != 0 && --state.number == 0) [[unlikely]] {
            state.verdict = Verdict::open;
        }
        return state.verdict;
    }
    /// Whether `next` is going to say that it is the MPI's.
    [[nodiscard]] bool is_mpis(Operation operation, std::uint64_t bytes) const noexcept {
        const State& state = states_[place(operation, bytes)];
        return state.verdict == Verdict::mpi && state.number != 1;
    }
    /// The same of calls in which ranks cannot agree, only where they meet, `meetings` times so
    /// far. What they have not called before the last one is not open: there may be no more.
    [[nodiscard]] Verdict next(Operation operation, std::uint64_t bytes,
                               std::uint32_t meetings) noexcept {
        State& state = states_[place(operation, bytes)];
        if (state.verdict != Verdict::open) [[likely]] {
            if (state.number == 0 || --state.number != 0) [[likely]] {
                return state.verdict;
            }
            state.verdict = Verdict::open;
        }
        const std::uint32_t now = meetings | 1U << 31; // Not 0.
        if (state.number == 0) {
            state.number = now;
            ++open_;
        }
        return state.number == now ? Verdict::corymb : Verdict::open;
    }
    /// The last call was none: the MPI, whose it was, has refused it on this rank.
    void take_back(Operation operation, std::uint64_t bytes) noexcept {
        State& state = states_[place(operation, bytes)];
        state.number += state.verdict != Verdict::open && state.number != 0 ? 1 : 0;
    }
    /// Whether there is something of the kind that is to be tried or just is.
    [[nodiscard]] bool is_open() const noexcept { return open_ > 0; }
    /// The trial of what is open; throws std::bad_alloc.
    [[nodiscard]] Trial& trial(Operation operation, std::uint64_t bytes, Measure measure) {
        return trials_.try_emplace(place(operation, bytes), bytes, measure).first->second;
    }
    /// After its trial.
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
    /// Calls of fewer bytes, about, are not tried; without a number, none.
    void give_to_corymb(std::uint64_t below = ~std::uint64_t{0}) noexcept {
        const auto classes = static_cast<std::size_t>(std::bit_width(below - 1)) + 1;
        for (std::size_t where = 0; where < states_.size(); ++where) {
            if (where % size_classes < classes) {
                states_[where] = {Verdict::corymb, 0};
            }
        }
    }
    /// Nor are operations_of_any_size.
    void give_any_size_to_corymb() noexcept {
        for (const Operation operation : operations_of_any_size) {
            states_[place(operation, any_bytes)] = {Verdict::corymb, 0};
        }
    }
    /// Whether calls of about so many bytes have not been made, and may be tried.
    [[nodiscard]] bool is_untried(Operation operation, std::uint64_t bytes) const noexcept {
        return states_[place(operation, bytes)].verdict == Verdict::open;
    }
    /// The next `calls` of them are the MPI's, before they are tried.
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
    int open_ = 0; ///< Of calls in which ranks cannot agree.
    std::map<std::size_t, Trial> trials_;
};

} // namespace corymb::mpi

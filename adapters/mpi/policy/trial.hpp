// SPDX-License-Identifier: Apache-2.0
// Which of two libraries does an operation, corymb or the MPI, where both give equal results. A
// program's own first calls are the measurement: each library gets some, and the ranks agree which
// took longer. See Faraj, Yuan, Lowenthal: "STAR-MPI: self tuned adaptive routines for MPI
// collective operations" (ICS 2006).
#pragma once

#include "operations.hpp"
#include "policy/agreement.hpp"
#include "policy/tuning.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
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
    /// The time of CPUs that the call takes on all ranks together. Where others want these CPUs,
    /// this is what the call takes from them. The time of a call says little there: a rank that has
    /// waited for its CPU finds all there.
    taken,
};
[[nodiscard]] constexpr Measure measure_of(Operation operation, bool are_cpus_shared) noexcept {
    return are_cpus_shared                  ? Measure::taken
           : traits_of(operation).needs_all ? Measure::from_last
                                            : Measure::longest;
}

/// Stands for calls whose size ranks do not know of each other; these are tried together.
inline constexpr std::uint64_t any_bytes = ~std::uint64_t{0};
/// The bytes of a call for a trial.
[[nodiscard]] constexpr std::uint64_t tried_bytes(Operation operation,
                                                  std::uint64_t bytes) noexcept {
    return traits_of(operation).is_of_any_size ? any_bytes : bytes;
}

/// Calls of one operation and size class while it is open which of the two is faster. Owns what
/// this rank has measured; knows no clock.
class Trial {
public:
    /// Calls that count, of corymb's and of the MPI's, at most.
    static constexpr int calls_most = tuning::trial_calls;
    /// When a call has begun and ended: on the clock of the node or, where CPUs are shared, on that
    /// of the calling thread, which runs only while the thread does.
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

    /// `bytes` is about the size of the calls.
    explicit Trial(std::uint64_t bytes) noexcept
        : calls_each_(bytes < tuning::long_bytes || bytes == any_bytes ? tuning::trial_calls
                                                                       : tuning::trial_calls_long) {
    }

    [[nodiscard]] Measure measure() const noexcept { return measure_; }
    /// The next call. A trial keeps the measure of its first call.
    [[nodiscard]] Attempt begin(Measure measure) noexcept;
    /// Uncounts the call: the MPI has refused it on this rank.
    void take_back() noexcept { --calls_; }
    /// Adds the time of a call that is over on this rank. A call of an earlier trial no longer
    /// counts.
    void add(const Attempt& attempt, const Span& span) noexcept;
    /// All calls that count are over on this rank.
    [[nodiscard]] bool has_all() const noexcept;
    /// All calls have begun.
    [[nodiscard]] bool is_over() const noexcept { return calls_ >= rounds * calls_each_; }

    /// What a rank has measured, and after the agreement what all have.
    class Evidence {
    public:
        void ask(Agreement& agreement);
        /// Whether others want the CPUs of this rank, or of any.
        [[nodiscard]] bool are_cpus_shared() const noexcept { return sharing_ != 0; }

    private:
        friend class Trial;
        std::array<std::uint64_t, std::size_t{4} * calls_most> values_{};
        std::size_t count_ = 0;
        std::uint64_t sharing_ = 0; ///< Goes with the values, so that one reduction is enough.
        bool is_sum_ = false;
    };
    /// The evidence of this rank, after the last call.
    [[nodiscard]] Evidence evidence(bool are_cpus_shared) const noexcept;
    /// The verdict by the evidence of all ranks, which is one on all of them. If a rank has calls
    /// that are not over, the winner before stays, or else corymb. Open: the winner before has
    /// lost, and one more trial is due at once.
    [[nodiscard]] Verdict decide(const Evidence& of_all) noexcept;
    /// The ranks could not agree: the communicator is of no use to anybody now.
    [[nodiscard]] Verdict give_up() noexcept {
        calls_until_next_ = 0;
        return Verdict::corymb;
    }
    /// After `decide`: after how many calls it is tried again; 0: never. The number grows with each
    /// trial that confirms the one before.
    [[nodiscard]] std::uint32_t calls_until_next() const noexcept { return calls_until_next_; }
    /// Who does calls until the trial is settled: the winner before, or else corymb.
    [[nodiscard]] Verdict until_settled() const noexcept {
        return winner_ == Verdict::mpi ? Verdict::mpi : Verdict::corymb;
    }
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
    struct Times {
        std::uint64_t corymb_ns;
        std::uint64_t mpi_ns;
    };
    [[nodiscard]] Times times(const Evidence& of_all) const noexcept;
    [[nodiscard]] std::uint32_t pause_after(const Times& times, Verdict winner) const noexcept;

    /// Two each, in turns. The first ones are not counted, in which plans are made and memory is
    /// touched: large messages of an MPI may go through fresh memory for several calls. Later
    /// trials have one each.
    static constexpr int rounds = 4;

    /// The calls that count.
    struct Spans {
        std::array<Span, calls_most> list;
        int count = 0;
    };

    Measure measure_ = Measure::longest;
    int calls_each_;
    int calls_ = 0;
    std::uint32_t calls_until_next_ = 0;
    Verdict winner_ = Verdict::open; ///< Winner of the trials so far.
    int times_in_a_row_ = 0;         ///< Times that it has won again.
    bool is_doubted_ = false;        ///< The winner has just lost.
    Result result_;
    int told_ = 0; ///< Trials of the result that were told.
    Spans corymb_{};
    Spans mpi_{};
};

} // namespace corymb::mpi

// SPDX-License-Identifier: Apache-2.0
#include "policy/choice.hpp"

#include <algorithm>
#include <numeric>

namespace corymb::mpi {

namespace {

/// The MPI gets an operation that it does in less than 97 % of corymb's time.
constexpr std::uint64_t part_of_hundred = 97;

/// Stands for an unknown time. A rank without measurements reports it for both libraries, so
/// neither wins.
constexpr std::uint64_t unknown_ns = std::uint64_t{1} << 50;

/// The mean of the shorter three quarters: other calls have met a disturbance. The median would not
/// do. If ranks follow each other closely, they wait in some calls and find all there in others.
std::uint64_t mean(const Trial::Span* spans, int count) {
    std::array<std::int64_t, Trial::calls_most> times{};
    const auto end = std::transform(spans, spans + count, times.begin(),
                                    [](const auto& span) { return span.end_ns - span.begin_ns; });
    const auto rest = times.begin() + count * 3 / 4;
    std::nth_element(times.begin(), rest, end);
    const std::int64_t sum = std::accumulate(times.begin(), rest, std::int64_t{0});
    return static_cast<std::uint64_t>(std::max<std::int64_t>(sum / (rest - times.begin()), 1));
}

bool find_largest(MPI_Comm comm, const std::uint64_t* mine, std::uint64_t* all, int count) {
    const Host& mpi = host();
    return mpi.Allreduce(mine, all, count, mpi.type_uint64, mpi.op_max, comm) == MPI_SUCCESS;
}

} // namespace

Measure measure_of(Operation operation) noexcept {
    switch (operation) {
    case Operation::barrier:
    case Operation::allgather:
    case Operation::allgatherv:
    case Operation::alltoall:
    case Operation::alltoallv:
    case Operation::alltoallw:
    case Operation::allreduce:
    case Operation::reduce_scatter:
    case Operation::reduce_scatter_block: return Measure::from_last;
    default: return Measure::longest;
    }
}

Trial::Attempt Trial::begin() noexcept {
    const Attempt attempt{calls_ / calls_each_ % 2 == 1, calls_ >= visits / 2 * calls_each_,
                          result_.trials};
    ++calls_;
    return attempt;
}

void Trial::add(const Attempt& attempt, const Span& span) noexcept {
    Spans& spans = attempt.is_for_mpi ? mpi_ : corymb_;
    if (attempt.counts && attempt.trial == result_.trials && spans.count < calls_each_) {
        spans.list[static_cast<std::size_t>(spans.count++)] = span;
    }
}

bool Trial::has_all() const noexcept {
    return corymb_.count == calls_each_ && mpi_.count == calls_each_;
}

bool Trial::measure_longest(MPI_Comm comm, Times& times) const noexcept {
    std::array mine{unknown_ns, unknown_ns};
    if (has_all()) {
        mine = {mean(corymb_.list.data(), calls_each_), mean(mpi_.list.data(), calls_each_)};
    }
    std::array<std::uint64_t, 2> longest{};
    const bool is_done = find_largest(comm, mine.data(), longest.data(), 2);
    times = {longest[0], longest[1]};
    return is_done;
}

bool Trial::measure_from_last(MPI_Comm comm, Times& times) const noexcept {
    std::array<std::uint64_t, 4 * calls_most> mine{};
    std::array<std::uint64_t, mine.size()> last{};
    std::size_t entry = 0;
    for (const Spans* const spans : {&corymb_, &mpi_}) {
        for (const Span& span : spans->list) {
            mine[entry++] = static_cast<std::uint64_t>(span.begin_ns);
            mine[entry++] = static_cast<std::uint64_t>(span.end_ns);
        }
    }
    const bool is_done =
        find_largest(comm, mine.data(), last.data(), static_cast<int>(mine.size()));
    std::array<Span, 2 * calls_most> together{};
    for (std::size_t call = 0; call < together.size(); ++call) {
        together[call] = {static_cast<std::int64_t>(last[2 * call]),
                          static_cast<std::int64_t>(last[2 * call + 1])};
    }
    times = {mean(together.data(), calls_each_), mean(together.data() + calls_most, calls_each_)};
    return is_done;
}

Verdict Trial::agree(MPI_Comm comm, std::uint64_t bytes) noexcept {
    Times times{};
    if (!(measure_ == Measure::from_last ? measure_from_last(comm, times)
                                         : measure_longest(comm, times))) {
        calls_until_next_ = 0;
        return Verdict::corymb; // The communicator is of no use to anybody now.
    }
    const auto [corymb_ns, mpi_ns] = times;
    const bool is_known = corymb_ns != unknown_ns;
    const bool is_mpi =
        is_known ? mpi_ns * 100 < corymb_ns * part_of_hundred : winner_ == Verdict::mpi;
    result_.corymb_ns = is_known ? corymb_ns : 0;
    result_.mpi_ns = is_known ? mpi_ns : 0;
    return decide(is_mpi ? Verdict::mpi : Verdict::corymb, is_mpi ? mpi_ns : corymb_ns,
                  is_mpi ? corymb_ns : mpi_ns, bytes);
}

Verdict Trial::decide(Verdict winner, std::uint64_t faster_ns, std::uint64_t slower_ns,
                      std::uint64_t bytes) noexcept {
    constexpr std::uint64_t long_message = 4096;
    constexpr int most_growth = 12;
    ++result_.trials;
    calls_ = visits / 2 * calls_each_;
    corymb_.count = mpi_.count = 0;
    calls_until_next_ = 0;
    if (winner_ != Verdict::open && winner != winner_ && !is_doubted_) {
        is_doubted_ = true; // Machines have bad moments.
        return Verdict::open;
    }
    times_in_a_row_ = winner == winner_ ? times_in_a_row_ + 1 : 0;
    winner_ = winner;
    is_doubted_ = false;
    // An MPI may need some dozens of calls of its own before it is at its best, above all where it
    // touches fresh memory, so corymb is doubted soon; but later where calls are so short that some
    // dozens of them take no longer than a trial. Once the MPI has won, every call of corymb's is a
    // loss.
    const bool is_corymb = winner == Verdict::corymb;
    const bool is_long = bytes >= long_message;
    const bool is_close = slower_ns < 2 * faster_ns;
    const std::uint64_t doubtful = is_corymb && is_long ? 8 : 4;
    const std::uint32_t first = is_corymb ? (is_long ? 64 : 512) : (is_close ? 512 : 2048);
    const int growth = std::min(times_in_a_row_ * (is_corymb ? 1 : 3), most_growth);
    calls_until_next_ = slower_ns < doubtful * faster_ns ? first << growth : 0;
    return winner;
}

} // namespace corymb::mpi

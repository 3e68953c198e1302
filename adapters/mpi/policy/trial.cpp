// SPDX-License-Identifier: Apache-2.0
#include "policy/trial.hpp"

#include <algorithm>
#include <limits>
#include <numeric>

namespace corymb::mpi {

namespace {

/// Stands for an unknown time. A rank without measurements reports it for both libraries, so
/// neither wins.
constexpr std::uint64_t unknown_ns = std::uint64_t{1} << 50;

std::uint64_t mean(const Trial::Span* spans, int count, int counted) {
    std::array<std::int64_t, Trial::calls_most> times{};
    const auto end = std::transform(spans, spans + count, times.begin(),
                                    [](const auto& span) { return span.end_ns - span.begin_ns; });
    const auto rest = times.begin() + counted;
    std::partial_sort(times.begin(), rest, end);
    const std::int64_t sum = std::accumulate(times.begin(), rest, std::int64_t{0});
    return static_cast<std::uint64_t>(std::max<std::int64_t>(sum / counted, 1));
}

/// The mean of the shorter three quarters: other calls have met a disturbance. The median would not
/// do. If ranks follow each other closely, they wait in some calls and find all there in others.
std::uint64_t mean_of_shorter(const Trial::Span* spans, int count) {
    return mean(spans, count, count * 3 / 4);
}

/// The mean of all calls. A disturbance takes no time of a thread that does not run meanwhile, and
/// a rank that shares its CPU waits seldom, but then for long.
std::uint64_t mean_of_all(const Trial::Span* spans, int count) {
    return mean(spans, count, count);
}

} // namespace

Trial::Attempt Trial::begin(Measure measure) noexcept {
    if (corymb_.count + mpi_.count == 0 && calls_ % (rounds / 2 * calls_each_) == 0) {
        measure_ = measure;
    }
    const Attempt attempt{calls_ / calls_each_ % 2 == 1, calls_ >= rounds / 2 * calls_each_,
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

void Trial::Evidence::ask(Agreement& agreement) {
    is_sum_ ? agreement.sum(sharing_) : agreement.largest(sharing_);
    for (std::size_t i = 0; i < count_; ++i) {
        is_sum_ ? agreement.sum(values_[i]) : agreement.largest(values_[i]);
    }
}

Trial::Evidence Trial::evidence(bool are_cpus_shared) const noexcept {
    Evidence mine;
    mine.sharing_ = are_cpus_shared ? 1 : 0;
    if (measure_ != Measure::from_last) {
        mine.is_sum_ = measure_ == Measure::taken;
        mine.count_ = 2;
        const auto mean_of = mine.is_sum_ ? &mean_of_all : &mean_of_shorter;
        mine.values_[0] = has_all() ? mean_of(corymb_.list.data(), calls_each_) : unknown_ns;
        mine.values_[1] = has_all() ? mean_of(mpi_.list.data(), calls_each_) : unknown_ns;
        return mine;
    }
    for (const Spans* const spans : {&corymb_, &mpi_}) {
        for (const Span& span : spans->list) {
            mine.values_[mine.count_++] = static_cast<std::uint64_t>(span.begin_ns);
            mine.values_[mine.count_++] = static_cast<std::uint64_t>(span.end_ns);
        }
    }
    return mine;
}

Trial::Times Trial::times(const Evidence& of_all) const noexcept {
    if (measure_ != Measure::from_last) {
        return {of_all.values_[0], of_all.values_[1]};
    }
    std::array<Span, std::size_t{2} * calls_most> together{};
    for (std::size_t call = 0; call < together.size(); ++call) {
        together[call] = {static_cast<std::int64_t>(of_all.values_[2 * call]),
                          static_cast<std::int64_t>(of_all.values_[2 * call + 1])};
    }
    return {mean_of_shorter(together.data(), calls_each_),
            mean_of_shorter(together.data() + calls_most, calls_each_)};
}

/// A check costs what the loser takes longer in its calls, and an agreement. The calls until then
/// take so long that this is a small part. If the verdict was confirmed, the part becomes smaller.
std::uint32_t Trial::pause_after(const Times& times, Verdict winner) const noexcept {
    const std::uint64_t faster = winner == Verdict::mpi ? times.mpi_ns : times.corymb_ns;
    const std::uint64_t slower = winner == Verdict::mpi ? times.corymb_ns : times.mpi_ns;
    const std::uint64_t longer = slower - std::min(slower, faster);
    const std::uint64_t check_ns = static_cast<std::uint64_t>(calls_each_) * longer +
                                   tuning::agreement_in_calls * times.mpi_ns;
    const std::uint64_t calls =
        tuning::check_is_one_part_of * check_ns / std::max<std::uint64_t>(faster, 1);
    const int doublings = std::min(times_in_a_row_, tuning::pause_doublings_most);
    constexpr std::uint64_t most = std::numeric_limits<std::uint32_t>::max() / 2;
    return static_cast<std::uint32_t>(
        std::clamp<std::uint64_t>(std::min(calls, most >> doublings) << doublings,
                                  2 * static_cast<std::uint64_t>(calls_each_), most));
}

Verdict Trial::decide(const Evidence& of_all) noexcept {
    const Times all = times(of_all);
    const bool is_known = all.corymb_ns < unknown_ns;
    const bool is_mpi = is_known ? all.mpi_ns * 100 < all.corymb_ns * tuning::mpi_wins_below_percent
                                 : winner_ == Verdict::mpi;
    const Verdict winner = is_mpi ? Verdict::mpi : Verdict::corymb;
    result_.corymb_ns = is_known ? all.corymb_ns : 0;
    result_.mpi_ns = is_known ? all.mpi_ns : 0;
    ++result_.trials;
    calls_ = rounds / 2 * calls_each_;
    corymb_.count = mpi_.count = 0;
    calls_until_next_ = 0;
    if (winner_ != Verdict::open && winner != winner_ && !is_doubted_) {
        is_doubted_ = true; // Machines have bad moments.
        return Verdict::open;
    }
    times_in_a_row_ = winner == winner_ ? times_in_a_row_ + 1 : 0;
    winner_ = winner;
    is_doubted_ = false;
    calls_until_next_ = pause_after(all, winner);
    return winner;
}

} // namespace corymb::mpi

// SPDX-License-Identifier: Apache-2.0
#include "choice.hpp"

#include <algorithm>
#include <numeric>

namespace corymb::mpi {

namespace {

/// The MPI gets what it does in less than 97 % of corymb's time.
constexpr std::uint64_t part_of_hundred = 97;

/// Of the shorter three quarters: the others have met something else. The median would not do, for
/// ranks that follow each other closely wait in some calls and find all there in others.
std::uint64_t mean(std::vector<std::int64_t>& times) {
    const auto rest = times.begin() + static_cast<std::ptrdiff_t>(times.size() * 3 / 4);
    std::nth_element(times.begin(), rest, times.end());
    const std::int64_t sum = std::accumulate(times.begin(), rest, std::int64_t{0});
    return static_cast<std::uint64_t>(std::max<std::int64_t>(sum / (rest - times.begin()), 1));
}

} // namespace

Trial::Attempt Trial::begin() noexcept {
    const Attempt attempt{calls_ / calls_each_ % 2 == 1, calls_ >= visits / 2 * calls_each_,
                          result_.trials};
    ++calls_;
    return attempt;
}

void Trial::add(const Attempt& attempt, std::int64_t ns) noexcept {
    if (attempt.counts && attempt.trial == result_.trials) {
        (attempt.is_for_mpi ? mpi_ns_ : corymb_ns_).push_back(ns);
    }
}

bool Trial::has_all() const noexcept {
    const auto all = static_cast<std::size_t>(calls_each_);
    return corymb_ns_.size() == all && mpi_ns_.size() == all;
}

Verdict Trial::agree(MPI_Comm comm, std::uint64_t bytes) noexcept {
    // Of a rooted operation the rank that takes longest says how many go through in a second. One
    // that does not know how long its calls take makes them all equal.
    constexpr std::uint64_t unknown_ns = std::uint64_t{1} << 50;
    const std::array<std::uint64_t, 2> mine = has_all()
                                                  ? std::array{mean(corymb_ns_), mean(mpi_ns_)}
                                                  : std::array{unknown_ns, unknown_ns};
    std::array<std::uint64_t, 2> longest{};
    const Host& mpi = host();
    if (mpi.Allreduce(mine.data(), longest.data(), 2, mpi.type_uint64, mpi.op_max, comm) !=
        MPI_SUCCESS) {
        calls_until_next_ = 0;
        return Verdict::corymb; // The communicator is of no use to anybody now.
    }
    const auto [corymb_ns, mpi_ns] = longest;
    const bool is_mpi = mpi_ns * 100 < corymb_ns * part_of_hundred;
    const bool is_known = longest[0] != unknown_ns;
    result_.corymb_ns = is_known ? corymb_ns : 0;
    result_.mpi_ns = is_known ? mpi_ns : 0;
    const Verdict winner = is_mpi ? Verdict::mpi : Verdict::corymb;
    plan_next(winner, is_mpi ? mpi_ns : corymb_ns, is_mpi ? corymb_ns : mpi_ns, bytes);
    return winner;
}

void Trial::plan_next(Verdict winner, std::uint64_t faster_ns, std::uint64_t slower_ns,
                      std::uint64_t bytes) noexcept {
    constexpr std::uint64_t long_message = 4096;
    constexpr int most_growth = 12;
    // An MPI may need some dozens of calls of its own before it is at its best, above all where it
    // touches fresh memory, so corymb is doubted soon; but later where calls are so short that some
    // dozens of them take no longer than a trial. Once the MPI has won, every call of corymb's is a
    // loss.
    const bool is_corymb = winner == Verdict::corymb;
    const bool is_long = bytes >= long_message;
    const std::uint64_t close = !is_corymb ? 2 : is_long ? 8 : 4;
    const std::uint32_t first = is_corymb && is_long ? 64 : 512;
    const int growth = std::min(result_.trials * (is_corymb ? 1 : 3), most_growth);
    calls_until_next_ = slower_ns < close * faster_ns ? first << growth : 0;
    ++result_.trials;
    calls_ = visits / 2 * calls_each_;
    corymb_ns_.clear();
    mpi_ns_.clear();
}

} // namespace corymb::mpi

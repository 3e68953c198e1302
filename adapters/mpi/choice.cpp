// SPDX-License-Identifier: Apache-2.0
#include "choice.hpp"

#include <algorithm>

namespace corymb::mpi {

namespace {

/// The MPI gets what it does in less than 97 % of corymb's time.
constexpr std::uint64_t part_of_hundred = 97;

std::uint64_t median(std::vector<std::int64_t>& times) {
    const auto middle = times.begin() + static_cast<std::ptrdiff_t>(times.size() / 2);
    std::nth_element(times.begin(), middle, times.end());
    return static_cast<std::uint64_t>(std::max<std::int64_t>(*middle, 1));
}

} // namespace

void Trial::add(std::int64_t ns) noexcept {
    if (calls_ >= visits / 2 * calls_each) {
        (is_for_mpi() ? mpi_ns_ : corymb_ns_).push_back(ns);
    }
    ++calls_;
}

Verdict Trial::agree(MPI_Comm comm, std::uint64_t bytes) noexcept {
    // Of a rooted operation the rank that takes longest says how many go through in a second.
    const std::array<std::uint64_t, 2> mine{median(corymb_ns_), median(mpi_ns_)};
    std::array<std::uint64_t, 2> longest{};
    const Host& mpi = host();
    if (mpi.Allreduce(mine.data(), longest.data(), 2, mpi.type_uint64, mpi.op_max, comm) !=
        MPI_SUCCESS) {
        calls_until_next_ = 0;
        return Verdict::corymb; // The communicator is of no use to anybody now.
    }
    const auto [corymb_ns, mpi_ns] = longest;
    const bool is_mpi = mpi_ns * 100 < corymb_ns * part_of_hundred;
    const Verdict winner = is_mpi ? Verdict::mpi : Verdict::corymb;
    plan_next(winner, is_mpi ? mpi_ns : corymb_ns, is_mpi ? corymb_ns : mpi_ns, bytes);
    return winner;
}

void Trial::plan_next(Verdict winner, std::uint64_t faster_ns, std::uint64_t slower_ns,
                      std::uint64_t bytes) noexcept {
    constexpr std::uint64_t long_message = 4096;
    constexpr int most_growth = 12;
    // An MPI may need some dozens of calls of its own before it is at its best, above all where it
    // touches fresh memory, so corymb is doubted soon. Once the MPI has won, every call of corymb's
    // is a loss.
    const bool is_corymb = winner == Verdict::corymb;
    const std::uint64_t close = !is_corymb ? 2 : bytes < long_message ? 4 : 8;
    const std::uint32_t first = is_corymb ? 64 : 512;
    const int growth = std::min(is_corymb ? trials_ : 3 * trials_, most_growth);
    calls_until_next_ = slower_ns < close * faster_ns ? first << growth : 0;
    ++trials_;
    calls_ = visits / 2 * calls_each;
    corymb_ns_.clear();
    mpi_ns_.clear();
}

} // namespace corymb::mpi

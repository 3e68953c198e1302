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

Verdict Trial::agree(MPI_Comm comm) noexcept {
    // Of a rooted operation the rank that takes longest says how many go through in a second.
    const std::array<std::uint64_t, 2> mine{median(corymb_ns_), median(mpi_ns_)};
    std::array<std::uint64_t, 2> longest{};
    const Host& mpi = host();
    if (mpi.Allreduce(mine.data(), longest.data(), 2, mpi.type_uint64, mpi.op_max, comm) !=
        MPI_SUCCESS) {
        return Verdict::corymb; // The communicator is of no use to anybody now.
    }
    return longest[1] * 100 < longest[0] * part_of_hundred ? Verdict::mpi : Verdict::corymb;
}

} // namespace corymb::mpi

// SPDX-License-Identifier: Apache-2.0
#include "visit.hpp"

#include "host.hpp"

#include <algorithm>
#include <chrono>

namespace corymb::mpi {

namespace {

/// MPI may be slow to look, where it yields or takes locks. Two ranks that visit it in each wait
/// could then keep each other waiting: visits take at most this part of a rank's time.
constexpr std::int64_t visit_share = 16;
constexpr std::int64_t visits_apart_ns_max = 5'000'000;

std::int64_t now_ns() noexcept {
    return std::chrono::steady_clock::now().time_since_epoch().count();
}

/// A communicator of this process alone, on which nobody ever sends.
MPI_Comm quiet_comm() noexcept {
    static const MPI_Comm own = [] {
        MPI_Comm made = host().comm_self;
        host().Comm_split(host().comm_self, 0, 0, &made); // A dup would copy attributes.
        return made;
    }();
    return own;
}

} // namespace

void visit_mpi() noexcept {
    thread_local std::int64_t not_before_ns = 0;
    if (is_within_mpi) {
        return;
    }
    const std::int64_t begin = now_ns();
    if (begin < not_before_ns) {
        return;
    }
    int flag = 0;
    host().Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, quiet_comm(), &flag, MPI_STATUS_IGNORE);
    const std::int64_t end = now_ns();
    not_before_ns = end + std::min((end - begin) * visit_share, visits_apart_ns_max);
}

} // namespace corymb::mpi

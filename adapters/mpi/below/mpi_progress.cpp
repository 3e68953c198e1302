// SPDX-License-Identifier: Apache-2.0
#include "below/mpi_progress.hpp"

#include "below/clock.hpp"
#include "below/host.hpp"
#include "below/node_ranks.hpp"
#include "below/open_work.hpp"
#include "below/tuning.hpp"

#include <algorithm>
#include <atomic>

namespace corymb::mpi {

namespace {

/// A request that is never complete: the MPI goes on in all its ways when it is asked about one.
/// MPICH does not when it is asked for a message (MPI_Iprobe): one-sided operations stand still.
struct Idle {
    MPI_Comm comm{}; ///< A communicator of this process alone, on which no message is ever sent.
    MPI_Request request{};
    bool exists = false;
};

std::atomic<bool> has_idle{false};

Idle& idle() noexcept {
    static Idle one = [] {
        const Host& mpi = host();
        Idle made;
        // A dup would copy attributes.
        made.exists =
            mpi.Comm_split(mpi.comm_self, 0, 0, &made.comm) == MPI_SUCCESS &&
            mpi.Comm_set_errhandler(made.comm, mpi.errors_return) == MPI_SUCCESS &&
            mpi.Irecv(nullptr, 0, mpi.type_byte, 0, 0, made.comm, &made.request) == MPI_SUCCESS;
        has_idle.store(made.exists, std::memory_order_release);
        return made;
    }();
    return one;
}

/// Several threads may ask about it at once.
void poll_mpi() noexcept {
    int flag = 0;
    if (const Idle& one = idle(); one.exists) {
        host().Request_get_status(one.request, &flag, MPI_STATUS_IGNORE);
    }
}

/// `seldom_polls`: by a rank that has not been here for long.
void progress(int seldom_polls) noexcept {
    thread_local std::int64_t not_before_ns = 0;
    thread_local std::int64_t last_end_ns = 0;
    if (is_within_mpi) {
        return;
    }
    if (has_open_work()) { // The wait itself looks at its own affairs in between.
        poll_mpi();
        return;
    }
    const std::int64_t begin = now_ns();
    if (begin < not_before_ns) {
        return;
    }
    const int looks = begin - last_end_ns < tuning::seldom_ns ? 1 : seldom_polls;
    std::int64_t end = begin;
    for (int i = 0; i < looks && end - begin < tuning::polls_most_ns; ++i) {
        poll_mpi();
        end = now_ns();
    }
    last_end_ns = end;
    const std::int64_t share = tuning::progress_is_one_part_of * known_ranks_per_cpu();
    not_before_ns = end + std::min((end - begin) * share, tuning::progress_apart_most_ns);
}

} // namespace

MPI_Comm quiet_comm() noexcept {
    const Idle& one = idle();
    return one.exists ? one.comm : host().comm_null;
}

void progress_mpi() noexcept {
    progress(tuning::polls_in_a_row);
}

void progress_mpi_briefly() noexcept {
    progress(1);
}

void progress_mpi_at_once() noexcept {
    poll_mpi();
}

void end_mpi_progress() noexcept {
    if (has_idle.exchange(false, std::memory_order_acquire)) {
        Idle& one = idle();
        one.exists = false;
        host().Cancel(&one.request);
        host().Wait(&one.request, MPI_STATUS_IGNORE);
        host().Comm_free(&one.comm);
    }
}

} // namespace corymb::mpi

// SPDX-License-Identifier: Apache-2.0
#include "agreement/trials.hpp"

#include "requests/request_trials.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <utility>

namespace corymb::mpi {

namespace {

/// Collective over the communicator.
void settle(Communicator& communicator) noexcept {
    for (const Tried& tried : communicator.sync_points.tried) {
        Trial& trial = *tried.trial;
        forget_trial(trial);
        communicator.request_choice.settle(tried.operation, tried.bytes,
                                           trial.agree(communicator.comm, tried.bytes));
    }
    communicator.sync_points.tried.clear();
}

} // namespace

void synchronise_requests(Communicator& communicator) noexcept {
    SyncPoints& sync_points = communicator.sync_points;
    const bool has_news =
        sync_points.requests != std::exchange(sync_points.requests_before, sync_points.requests) &&
        communicator.request_choice.is_open();
    const std::array<std::uint64_t, 3> mine{sync_points.requests, ~sync_points.requests,
                                            has_news ? std::uint64_t{1} : 0};
    std::array<std::uint64_t, 3> most{};
    if (host().Allreduce(mine.data(), most.data(), 3, host().type_uint64, host().op_max,
                         communicator.comm) != MPI_SUCCESS) {
        sync_points.end();
        return;
    }
    sync_points.apart = most[2] != 0 ? SyncPoints::least_apart
                                     : std::min(2 * sync_points.apart, SyncPoints::most_apart);
    sync_points.calls_left = sync_points.apart;
    if (most[0] == ~most[1]) {
        ++sync_points.held;
        settle(communicator);
    }
}

} // namespace corymb::mpi

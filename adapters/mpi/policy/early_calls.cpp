// SPDX-License-Identifier: Apache-2.0
#include "policy/early_calls.hpp"

#include "communicator/communicator.hpp"

#include <algorithm>
#include <atomic>

namespace corymb::mpi {

namespace {

/// Time of communicators that have been freed without a team. A program that makes one for each of
/// many short phases goes on with the team of the first that has one.
constinit std::atomic<std::int64_t> earlier_ns{0};

/// In nonblocking calls the program's waits are unknown, so these calls count as blocking ones do.
std::int64_t time_of_calls(const Communicator& communicator) noexcept {
    const EarlyCalls& early = communicator.early;
    const auto blocking = static_cast<std::uint64_t>(std::max(early.made - 1, 1));
    const double share =
        static_cast<double>(communicator.early_requests) / static_cast<double>(blocking);
    return early.ns + static_cast<std::int64_t>(share * static_cast<double>(early.ns));
}

} // namespace

bool agree_that_long_enough(Communicator& communicator) noexcept {
    constexpr int made_most = 1 << 28;

    EarlyCalls& early = communicator.early;
    const auto mine = static_cast<std::uint64_t>(time_of_calls(communicator) +
                                                 earlier_ns.load(std::memory_order_relaxed));
    std::uint64_t most = 0;
    if (host().Allreduce(&mine, &most, 1, host().type_uint64, host().op_max, communicator.comm) !=
        MPI_SUCCESS) {
        return true; // The agreements that follow fail in the same way, and report it.
    }
    if (most >= static_cast<std::uint64_t>(early.wanted_ns) || early.made > made_most) {
        return true;
    }
    early.until = 2 * (early.made - 1); // The call that meets is to come.
    return false;
}

void keep_early_time(const Communicator& communicator) noexcept {
    if (communicator.state == Communicator::State::early && communicator.early.wanted_ns > 0) {
        earlier_ns.fetch_add(time_of_calls(communicator), std::memory_order_relaxed);
    }
}

} // namespace corymb::mpi

// SPDX-License-Identifier: Apache-2.0
// Waits in an MPI without a hook, which would hold up corymb's requests. The adapter waits by the
// MPI's tests, between which corymb's requests go on. Other waits, such as those of one-sided
// operations and MPI_Sendrecv_replace, are left to the thread (progress_thread.hpp).
#pragma once

#include "below/hook.hpp"
#include "below/host.hpp"
#include "below/mpi_progress.hpp"
#include "below/tuning.hpp"
#include "below/unless_done.hpp"
#include "requests/progress_thread.hpp"
#include "requests/requests.hpp"

#include <sched.h>

namespace corymb::mpi {

/// Whether there are requests of corymb's that the MPI's own wait would hold up.
[[nodiscard]] inline bool must_poll() noexcept {
    return has_requests() && goes_on_by_thread() && has_active_requests();
}

/// Before a look at something of the MPI's, as its hook does.
inline void go_on_before_poll() noexcept {
    if (must_poll()) [[unlikely]] {
        static_cast<void>(go_on_with_requests());
    }
}

/// Waits until `test` succeeds. `test` looks once, sets its argument on success, and returns MPI's
/// error code.
template <class Test>
int wait_by_polling(const Test& test) {
    add(waits_by_polling, 1);
    const auto end = [] {
        add(waits_by_polling, -1);
    };
    const UnlessDone at_the_end(end);
    for (int polls = 0;; ++polls) {
        int flag = 0;
        const int result = test(flag);
        if (flag != 0 || result != MPI_SUCCESS) {
            return result;
        }
        static_cast<void>(go_on_with_requests());
        if (polls > tuning::polls_awake) {
            sched_yield();
        }
    }
}

/// MPI_Wait of a request of the MPI's.
inline int wait_below(MPI_Request& request, MPI_Status* status) {
    return wait_by_polling([&](int& flag) { return host().Test(&request, &flag, status); });
}

/// A receive and a send at once, made by `receive` and `send`. The status is the receive's; an
/// error of the receive counts before one of the send.
template <class Receive, class Send>
int exchange_by_polling(const Receive& receive, const Send& send, MPI_Status* status) {
    const Host& mpi = host();
    MPI_Request incoming{};
    MPI_Request outgoing{};
    if (const int result = receive(&incoming); result != MPI_SUCCESS) {
        return result;
    }
    if (const int result = send(&outgoing); result != MPI_SUCCESS) {
        mpi.Cancel(&incoming);
        mpi.Wait(&incoming, MPI_STATUS_IGNORE);
        return result;
    }
    const int received = wait_below(incoming, status);
    const int sent = wait_below(outgoing, MPI_STATUS_IGNORE);
    return received != MPI_SUCCESS ? received : sent;
}

} // namespace corymb::mpi

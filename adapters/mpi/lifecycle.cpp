// SPDX-License-Identifier: Apache-2.0
// The beginning of the process and the end of MPI. All else is made when it is first used.
#include "account.hpp"
#include "group.hpp"
#include "hook.hpp"
#include "host.hpp"
#include "progress_thread.hpp"
#include "requests.hpp"
#include "visit.hpp"

#include <linux/membarrier.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace {

/// Teams register their process for membarrier(2). While it has one thread that takes no time; once
/// the MPI has begun others, the kernel waits for all CPUs, ten milliseconds and more each time.
/// Where it is refused, teams find that out themselves.
[[gnu::constructor]] void register_while_alone() noexcept {
    ::syscall(SYS_membarrier, MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED, 0, 0);
    ::syscall(SYS_membarrier, MEMBARRIER_CMD_REGISTER_GLOBAL_EXPEDITED, 0, 0);
}

} // namespace

extern "C" __attribute__((visibility("default"))) int MPI_Finalize() {
    using namespace corymb::mpi;
    const Host& mpi = host();
    int initialised = 0;
    if (mpi.whole && mpi.Initialized(&initialised) == MPI_SUCCESS && initialised != 0) {
        int rank = 0;
        int size = 1;
        mpi.Comm_rank(mpi.comm_world, &rank);
        mpi.Comm_size(mpi.comm_world, &size);
        finish_requests();
        end_progress_thread();
        remove_hook();
        give_back_teams();
        give_back_handles();
        end_visits();
        if (is_explaining() && rank == 0) {
            print_summary(rank, size);
        }
    }
    return mpi.Finalize();
}

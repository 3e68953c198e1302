// SPDX-License-Identifier: Apache-2.0
// The end of MPI. Its beginning needs nothing: all is made when it is first used.
#include "account.hpp"
#include "group.hpp"
#include "hook.hpp"
#include "host.hpp"
#include "requests.hpp"
#include "visit.hpp"

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

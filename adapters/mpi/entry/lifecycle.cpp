// SPDX-License-Identifier: Apache-2.0
// The beginning of the process and the end of MPI. All else is made when it is first used.
#include "below/hook.hpp"
#include "below/host.hpp"
#include "below/mpi_progress.hpp"
#include "communicator/account.hpp"
#include "communicator/communicator.hpp"
#include "communicator/sessions.hpp"
#include "entry/calls.hpp"
#include "requests/progress_thread.hpp"
#include "requests/requests.hpp"

#include <atomic>
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

std::atomic<bool> is_watched{false};
/// Before any attribute of the program's, which then go before ours.
std::atomic<bool> comes_last{false};
std::atomic<bool> has_ended{false};

/// MPI can still be used. Communicators of a session may go on with their persistent requests.
void end() noexcept {
    using namespace corymb::mpi;
    const Host& mpi = host();
    if (has_ended.exchange(true)) {
        return;
    }
    int rank = 0;
    int size = 1;
    mpi.Comm_rank(mpi.comm_world, &rank);
    mpi.Comm_size(mpi.comm_world, &size);
    if (open_sessions.load() > 0) {
        give_back_teams(true);
        give_back_handles(false);
    } else {
        finish_requests();
        remove_hook();
        give_back_teams(false);
        if (comes_last.load()) {
            forget_active_communicators();
        }
        give_back_handles(comes_last.load());
        end_mpi_progress();
    }
    if (is_explaining() && rank == 0) {
        print_summary(rank, size);
    }
}

/// MPI_Finalize first frees MPI_COMM_SELF, whose attributes go in the reverse order of their
/// coming. So callbacks of the program's attributes run before this one.
int end_with_self(MPI_Comm /*comm*/, int /*key*/, void* /*value*/, void* /*extra*/) noexcept {
    end();
    return MPI_SUCCESS;
}

void watch() noexcept {
    using namespace corymb::mpi;
    const Host& mpi = host();
    if (!mpi.whole || is_watched.exchange(true)) {
        return;
    }
    int key = 0;
    is_watched =
        mpi.Comm_create_keyval(&do_not_copy, &end_with_self, &key, nullptr) == MPI_SUCCESS &&
        mpi.Comm_set_attr(mpi.comm_self, key, nullptr) == MPI_SUCCESS;
}

[[gnu::constructor]] void offer_watch() noexcept {
    corymb::mpi::watch_for_the_end.store(&watch);
}

} // namespace

#define CORYMB_MPI_ENTRY extern "C" __attribute__((visibility("default")))

using namespace corymb::mpi;

CORYMB_MPI_ENTRY int MPI_Init(int* count, char*** words) {
    const int result = host().Init(count, words);
    if (result == MPI_SUCCESS) {
        comes_last = !is_watched.load();
        watch();
    }
    return result;
}

CORYMB_MPI_ENTRY int MPI_Init_thread(int* count, char*** words, int wanted, int* provided) {
    const int result = host().Init_thread(count, words, wanted, provided);
    if (result == MPI_SUCCESS) {
        comes_last = !is_watched.load();
        watch();
    }
    return result;
}

CORYMB_MPI_ENTRY int MPI_Finalize() {
    const Host& mpi = host();
    int initialised = 0;
    if (mpi.whole && mpi.Initialized(&initialised) == MPI_SUCCESS && initialised != 0) {
        end_progress_thread(); // The thread may wait for a lock that the MPI has while it ends.
        if (open_sessions.load() == 0) {
            remove_hook(); // MPICH waits until there is none, before all else.
        }
        if (!is_watched.load()) {
            end();
        }
    }
    return mpi.Finalize();
}

#if CORYMB_MPI_HAS_PERSISTENT

CORYMB_MPI_ENTRY int MPI_Session_init(MPI_Info info, MPI_Errhandler errors, MPI_Session* session) {
    if (host().Session_init == nullptr) {
        return missing_function("MPI_Session_init");
    }
    const int result = host().Session_init(info, errors, session);
    if (result == MPI_SUCCESS) {
        ++open_sessions;
        had_sessions = true;
        many_threads.store(true); // Ordered against the accesses in ask_for_threads.
    }
    return result;
}

CORYMB_MPI_ENTRY int MPI_Session_finalize(MPI_Session* session) {
    if (host().Session_finalize == nullptr) {
        return missing_function("MPI_Session_finalize");
    }
    if (open_sessions.load() == 1 && has_ended.load()) {
        remove_hook();
    }
    const int result = host().Session_finalize(session);
    if (result == MPI_SUCCESS && --open_sessions == 0 && !is_world_usable()) {
        forget_key();
    }
    return result;
}

#endif

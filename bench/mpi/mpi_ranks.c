/* SPDX-License-Identifier: Apache-2.0
   The ranks of an MPI library: one process each, started by its mpirun, compiled by its mpicc.
   session.h says how the driver talks to them. */
#include "mpi_calls.h"
#include "payload.h"
#include "session.h"

#include <limits.h>
#include <signal.h>
#include <sys/prctl.h>

/* Binds to the rank's CPU in turn where the launcher bound to none and the driver wants it. */
static void pin_if_asked(int rank) {
    cpu_set_t allowed;
    CPU_ZERO(&allowed);
    if (!getenv("CORYMB_PEER_PIN") || sched_getaffinity(0, sizeof allowed, &allowed) != 0 ||
        CPU_COUNT(&allowed) < 2) {
        return;
    }
    int left = rank % CPU_COUNT(&allowed);
    for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu) {
        if (CPU_ISSET(cpu, &allowed) && left-- == 0) {
            cpu_set_t own;
            CPU_ZERO(&own);
            CPU_SET(cpu, &own);
            sched_setaffinity(0, sizeof own, &own);
            return;
        }
    }
}

static const char* perform(struct session* session, const struct command* command) {
    struct work w = {.request = MPI_REQUEST_NULL, .receive = MPI_REQUEST_NULL};
    struct actions actions = {.state = &w};
    if (operation_of(command->operation) == operation_count ||
        command->bytes / sizeof(double) > INT_MAX) {
        return "unsupported";
    }
    if (payload_make(&w.payload, session, command) != 0) {
        return "memory";
    }
    const char* word = "ok";
    if (!measure_alone(session, command, &w.payload)) {
        if (choose(command->mode, &w, &actions)) {
            session_measure(session, command, &actions);
            release(&w.request);
            release(&w.receive);
        } else {
            word = "unsupported";
        }
    }
    if (word[0] == 'o' && (session->wrong || !payload_is_right(&w.payload))) {
        word = "wrong";
    }
    payload_free(&w.payload);
    return word;
}

int main(int argc, char** argv) {
    struct session session;
    struct command command;
    const char* folder = getenv("CORYMB_PEER_FOLDER");
    const char* level = getenv("CORYMB_PEER_THREADS");
    const int wanted =
        level && strcmp(level, "multiple") == 0 ? MPI_THREAD_MULTIPLE : MPI_THREAD_SINGLE;
    int rank = 0;
    int ranks = 0;
    int given = 0;
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (!folder) {
        fputs("CORYMB_PEER_FOLDER is not set; `corymb bench peers` starts this program\n", stderr);
        return 2;
    }
    if (MPI_Init_thread(&argc, &argv, wanted, &given) != MPI_SUCCESS || given < wanted) {
        fputs("MPI does not grant the thread level\n", stderr);
        return 1;
    }
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    pin_if_asked(rank);
    if (session_open(&session, folder, rank, ranks) != 0) {
        fprintf(stderr, "%s lacks the pipes of the driver\n", folder);
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
    while (session_next(&session, &command)) {
        session_reply(&session, perform(&session, &command));
    }
    MPI_Finalize();
    return 0;
}

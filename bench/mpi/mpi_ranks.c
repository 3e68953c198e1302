/* SPDX-License-Identifier: Apache-2.0
   The ranks of an MPI library: one process each, started by its mpirun, compiled by its mpicc.
   session.h says how the driver talks to them. */
#include "session.h"

#include <mpi.h>
#include <signal.h>
#include <sys/prctl.h>

enum operation {
    op_barrier,
    op_broadcast,
    op_reduce,
    op_allreduce,
    op_gather,
    op_scatter,
    op_allgather,
    op_alltoall,
    op_reduce_scatter,
    op_scan,
    op_exscan,
    operation_count
};

static const char* const operation_names[operation_count] = {
    "barrier",   "broadcast", "reduce",         "allreduce", "gather", "scatter",
    "allgather", "alltoall",  "reduce_scatter", "scan",      "exscan"};

struct work {
    enum operation operation;
    int count; /* doubles of one contribution */
    int root;
    double* input;
    double* output;
    MPI_Request request;
};

static void blocking(void* state) {
    struct work* w = state;
    const MPI_Comm all = MPI_COMM_WORLD;
    const MPI_Datatype d = MPI_DOUBLE;
    switch (w->operation) {
    case op_barrier: MPI_Barrier(all); break;
    case op_broadcast: MPI_Bcast(w->output, w->count, d, w->root, all); break;
    case op_reduce: MPI_Reduce(w->input, w->output, w->count, d, MPI_SUM, w->root, all); break;
    case op_allreduce: MPI_Allreduce(w->input, w->output, w->count, d, MPI_SUM, all); break;
    case op_gather: MPI_Gather(w->input, w->count, d, w->output, w->count, d, w->root, all); break;
    case op_scatter:
        MPI_Scatter(w->input, w->count, d, w->output, w->count, d, w->root, all);
        break;
    case op_allgather: MPI_Allgather(w->input, w->count, d, w->output, w->count, d, all); break;
    case op_alltoall: MPI_Alltoall(w->input, w->count, d, w->output, w->count, d, all); break;
    case op_reduce_scatter:
        MPI_Reduce_scatter_block(w->input, w->output, w->count, d, MPI_SUM, all);
        break;
    case op_scan: MPI_Scan(w->input, w->output, w->count, d, MPI_SUM, all); break;
    default: MPI_Exscan(w->input, w->output, w->count, d, MPI_SUM, all); break;
    }
}

static void nonblocking(void* state) {
    struct work* w = state;
    const MPI_Comm all = MPI_COMM_WORLD;
    const MPI_Datatype d = MPI_DOUBLE;
    MPI_Request* r = &w->request;
    switch (w->operation) {
    case op_barrier: MPI_Ibarrier(all, r); break;
    case op_broadcast: MPI_Ibcast(w->output, w->count, d, w->root, all, r); break;
    case op_reduce: MPI_Ireduce(w->input, w->output, w->count, d, MPI_SUM, w->root, all, r); break;
    case op_allreduce: MPI_Iallreduce(w->input, w->output, w->count, d, MPI_SUM, all, r); break;
    case op_gather:
        MPI_Igather(w->input, w->count, d, w->output, w->count, d, w->root, all, r);
        break;
    case op_scatter:
        MPI_Iscatter(w->input, w->count, d, w->output, w->count, d, w->root, all, r);
        break;
    case op_allgather: MPI_Iallgather(w->input, w->count, d, w->output, w->count, d, all, r); break;
    case op_alltoall: MPI_Ialltoall(w->input, w->count, d, w->output, w->count, d, all, r); break;
    case op_reduce_scatter:
        MPI_Ireduce_scatter_block(w->input, w->output, w->count, d, MPI_SUM, all, r);
        break;
    case op_scan: MPI_Iscan(w->input, w->output, w->count, d, MPI_SUM, all, r); break;
    default: MPI_Iexscan(w->input, w->output, w->count, d, MPI_SUM, all, r); break;
    }
    MPI_Wait(r, MPI_STATUS_IGNORE);
}

/* Libraries that report MPI 3.1 export these all the same (Open MPI 5); older ones do not. */
#ifdef CORYMB_PEER_PERSISTENT
static void prepare(struct work* w) {
    const MPI_Comm all = MPI_COMM_WORLD;
    const MPI_Datatype d = MPI_DOUBLE;
    const MPI_Info i = MPI_INFO_NULL;
    const int n = w->count;
    MPI_Request* r = &w->request;
    switch (w->operation) {
    case op_barrier: MPI_Barrier_init(all, i, r); break;
    case op_broadcast: MPI_Bcast_init(w->output, n, d, w->root, all, i, r); break;
    case op_reduce: MPI_Reduce_init(w->input, w->output, n, d, MPI_SUM, w->root, all, i, r); break;
    case op_allreduce: MPI_Allreduce_init(w->input, w->output, n, d, MPI_SUM, all, i, r); break;
    case op_gather: MPI_Gather_init(w->input, n, d, w->output, n, d, w->root, all, i, r); break;
    case op_scatter: MPI_Scatter_init(w->input, n, d, w->output, n, d, w->root, all, i, r); break;
    case op_allgather: MPI_Allgather_init(w->input, n, d, w->output, n, d, all, i, r); break;
    case op_alltoall: MPI_Alltoall_init(w->input, n, d, w->output, n, d, all, i, r); break;
    case op_reduce_scatter:
        MPI_Reduce_scatter_block_init(w->input, w->output, n, d, MPI_SUM, all, i, r);
        break;
    case op_scan: MPI_Scan_init(w->input, w->output, n, d, MPI_SUM, all, i, r); break;
    default: MPI_Exscan_init(w->input, w->output, n, d, MPI_SUM, all, i, r); break;
    }
}

static void persistent(void* state) {
    struct work* w = state;
    MPI_Start(&w->request);
    MPI_Wait(&w->request, MPI_STATUS_IGNORE);
}
#endif

/* What element `at` of the output must be; rank r contributes r + 1 everywhere. */
static int is_right(const struct session* s, const struct work* w, size_t at) {
    const double all = s->ranks * (s->ranks + 1) / 2.0;
    const double below = s->rank * (s->rank + 1) / 2.0;
    const double got = w->output[at];
    const int of = w->count > 0 ? (int)(at / (size_t)w->count) : 0;
    switch (w->operation) {
    case op_broadcast:
    case op_scatter: return got == w->root + 1;
    case op_reduce: return s->rank != w->root || got == all;
    case op_gather: return s->rank != w->root || got == of + 1;
    case op_allreduce:
    case op_reduce_scatter: return got == all;
    case op_allgather:
    case op_alltoall: return got == of + 1;
    case op_scan: return got == below + s->rank + 1;
    case op_exscan: return s->rank == 0 || got == below;
    default: return 1;
    }
}

static size_t output_parts(const struct session* s, enum operation operation) {
    const int many =
        operation == op_gather || operation == op_allgather || operation == op_alltoall;
    return many ? (size_t)s->ranks : 1;
}

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
    struct work w = {.root = command->root,
                     .count = (int)(command->bytes / sizeof(double)),
                     .request = MPI_REQUEST_NULL};
    void (*once)(void*) = blocking;
    while (w.operation < operation_count &&
           strcmp(operation_names[w.operation], command->operation) != 0) {
        ++w.operation;
    }
    if (w.operation == operation_count) {
        return "unsupported";
    }
    if (strcmp(command->mode, "nonblocking") == 0) {
        once = nonblocking;
    } else if (strcmp(command->mode, "persistent") == 0) {
#ifdef CORYMB_PEER_PERSISTENT
        once = persistent;
#else
        return "unsupported";
#endif
    }
    const size_t all = (size_t)w.count * (size_t)session->ranks;
    const size_t room = (all + 1) * sizeof(double);
    if (posix_memalign((void**)&w.input, 4096, room) ||
        posix_memalign((void**)&w.output, 4096, room)) {
        return "unsupported";
    }
    for (size_t i = 0; i < all; ++i) {
        w.input[i] = session->rank + 1;
        w.output[i] = session->rank == w.root ? session->rank + 1 : -1;
    }
#ifdef CORYMB_PEER_PERSISTENT
    if (once == persistent) {
        prepare(&w);
    }
#endif
    session_measure(session, command, once, &w);
#ifdef CORYMB_PEER_PERSISTENT
    if (once == persistent) {
        MPI_Request_free(&w.request);
    }
#endif
    const size_t got = output_parts(session, w.operation) * (size_t)w.count;
    const int right = got == 0 || (is_right(session, &w, 0) && is_right(session, &w, got / 2) &&
                                   is_right(session, &w, got - 1));
    free(w.input);
    free(w.output);
    return right ? "ok" : "wrong";
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
        fputs("CORYMB_PEER_FOLDER is not set; `corymb bench-peers` starts this program\n", stderr);
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

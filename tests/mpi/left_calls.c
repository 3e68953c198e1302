// SPDX-License-Identifier: Apache-2.0
// Blocking calls that are left to the MPI, among two ranks; all are checked.
//
// "mixed": calls of a few shapes, as many as asked for, in an order that is the same on all ranks.
// Some look like the one before but for their root or MPI_IN_PLACE. Who does them is open.
// "slow": allreduces with an operator that sleeps while corymb has its calls of the trial, longer
// than the MPI waits for a CPU that a stranger has, so that all after that are the MPI's; the
// operator looks who calls it. Some are made once more by one rank, with a datatype that only the
// MPI refuses, which makes them none.
#define _GNU_SOURCE
#include <mpi.h>

#include <dlfcn.h>
#include <execinfo.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { most = 16384, most_ranks = 2, refused_every = 7 };
// As the adapter has them: calls before the team, of a visit, of a trial.
enum { early_calls = 3, visit_calls = 8, trial_calls = 4 * visit_calls };

static int rank, ranks, wrong;
static MPI_Comm comm;
static int in[most * most_ranks], out[most * most_ranks];

static void expect(int value, int expected) {
    wrong += value != expected;
}

static void broadcast(int call, int root, int count) {
    out[0] = out[count - 1] = rank == root ? call : -1;
    MPI_Bcast(out, count, MPI_INT, root, comm);
    expect(out[0], call);
    expect(out[count - 1], call);
}

// What a rank that is not the root says of the output has no meaning.
static void gather(int call, int root, int count, int is_in_place) {
    const int is_root = rank == root;
    int* const own = is_root && is_in_place ? out + rank * count : in;
    own[0] = own[count - 1] = call + rank;
    MPI_Gather(is_root && is_in_place ? MPI_IN_PLACE : in, count, MPI_INT, out,
               is_root ? count : most, MPI_INT, root, comm);
    for (int from = 0; is_root && from < ranks; ++from) {
        expect(out[from * count], call + from);
        expect(out[from * count + count - 1], call + from);
    }
}

static void scatter(int call, int root, int count) {
    for (int to = 0; to < ranks; ++to) {
        in[to * count] = call + to;
    }
    MPI_Scatter(in, count, MPI_INT, out, count, MPI_INT, root, comm);
    expect(out[0], call + rank);
}

static void combine(int call, int count, MPI_Op op) {
    in[count - 1] = call + rank;
    MPI_Allreduce(in, out, count, MPI_INT, op, comm);
    expect(out[count - 1],
           op == MPI_MAX ? call + ranks - 1 : ranks * call + ranks * (ranks - 1) / 2);
    MPI_Exscan(in, out, count, MPI_INT, op, comm);
    if (rank > 0) {
        expect(out[count - 1],
               op == MPI_MAX ? call + rank - 1 : rank * call + rank * (rank - 1) / 2);
    }
}

static void call_mixed(int calls) {
    unsigned random = 1;
    int kind = 0;
    for (int call = 0; call < calls; ++call) {
        random = random * 1664525 + 1013904223;
        if (random >> 24 < 40) { // Mostly what was called before.
            kind = (int)(random >> 16 & 0xff);
        }
        const int root = kind & 1;
        const int count = (kind & 2) != 0 ? most : 2;
        switch (kind >> 3 & 3) {
        case 0: broadcast(call, root, count); break;
        case 1: gather(call, root, count, kind & 4); break;
        case 2: scatter(call, root, count); break;
        default: combine(call, count, (kind & 4) != 0 ? MPI_MAX : MPI_SUM);
        }
    }
}

static int is_slow, by_corymb, by_mpi;

static int is_called_by_corymb(void) {
    void* frames[64];
    const int depth = backtrace(frames, 64);
    for (int i = 0; i < depth; ++i) {
        Dl_info where;
        if (dladdr(frames[i], &where) != 0 && strstr(where.dli_fname, "libcorymb.so") != NULL) {
            return 1;
        }
    }
    return 0;
}

static void add(void* left, void* right, int* count, MPI_Datatype* type) {
    (void)type;
    for (int i = 0; i < *count; ++i) {
        ((int*)right)[i] += ((const int*)left)[i];
    }
    ++*(is_called_by_corymb() ? &by_corymb : &by_mpi);
    if (is_slow) {
        usleep(100000);
    }
}

static void sum_in_place(int call, MPI_Op op) {
    out[0] = call + rank;
    MPI_Allreduce(MPI_IN_PLACE, out, 1, MPI_INT, op, comm);
    expect(out[0], 2 * call + 1);
}

// Prints who has called the operator in the trial and after it; it is called on one rank at least.
static void call_slow(int calls) {
    MPI_Op op;
    MPI_Op_create(add, 0, &op);
    MPI_Datatype not_committed;
    MPI_Type_contiguous(1, MPI_INT, &not_committed);
    for (int call = 0; call < early_calls; ++call) {
        MPI_Barrier(comm);
    }
    for (int call = 0; call < trial_calls; ++call) {
        is_slow = call / visit_calls % 2 == 0;
        sum_in_place(call, op);
    }
    is_slow = 0;
    int own[4] = {by_corymb, by_mpi, 0, 0}, all[4];
    by_corymb = by_mpi = 0;
    for (int call = 0; call < calls; ++call) {
        sum_in_place(call, op);
        if (call % refused_every == 0 && call / refused_every % ranks == rank) {
            wrong += MPI_Allreduce(in, out, 1, not_committed, op, comm) == MPI_SUCCESS;
        }
    }
    own[2] = by_corymb;
    own[3] = by_mpi;
    MPI_Op_free(&op);
    MPI_Type_free(&not_committed);
    MPI_Reduce(own, all, 4, MPI_INT, MPI_MAX, 0, MPI_COMM_WORLD);
    if (rank == 0) {
        printf("trial: corymb %d, MPI %d; after it: corymb %d, MPI %d\n", all[0] > 0, all[1] > 0,
               all[2] > 0, all[3] > 0);
    }
}

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN); // Open MPI reports some there.
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &ranks);
    const int calls = argc > 2 ? atoi(argv[2]) : 0;
    if (argc > 1 && strcmp(argv[1], "slow") == 0) {
        call_slow(calls);
    } else {
        call_mixed(calls);
    }
    MPI_Comm_free(&comm);
    int all_wrong = 0;
    MPI_Reduce(&wrong, &all_wrong, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
    if (rank == 0) {
        printf("%d calls, %d wrong\n", calls, all_wrong);
    }
    MPI_Finalize();
    return 0;
}

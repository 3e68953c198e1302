// SPDX-License-Identifier: Apache-2.0
// Blocking calls of a few shapes, in an order that is the same on all ranks, as many as asked for;
// all are checked. Some look like the one before but for their root or MPI_IN_PLACE, and some are
// made once more by one rank, with arguments that the MPI refuses, which makes them none.
#include <mpi.h>

#include <stdio.h>
#include <stdlib.h>

enum { most = 16384, most_ranks = 2, refused_every = 7 };

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

// Of the same shape as the calls before and after it, if the MPI looks at where the buffers lie.
static void make_refused(int count) {
#if defined(OPEN_MPI)
    wrong += MPI_Bcast(out, count, MPI_INT, ranks, comm) == MPI_SUCCESS;
#else
    wrong += MPI_Allreduce(in, in, count, MPI_INT, MPI_SUM, comm) == MPI_SUCCESS;
#endif
}

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    const int calls = argc > 1 ? atoi(argv[1]) : 1;
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &ranks);
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
        if (call % refused_every == 0 && call / refused_every % ranks == rank) {
            make_refused(count);
        }
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

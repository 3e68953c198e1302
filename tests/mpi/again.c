// SPDX-License-Identifier: Apache-2.0
// Few shapes of blocking calls, each made several times in a row and again later, with other
// buffers, in place and not, with datatypes that are freed and made anew. By their MPI_ names,
// which the adapter may take over, and by their PMPI_ names; all buffers and outcomes are compared.
// Arguments: bursts, seed.
#include <mpi.h>

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { room = 4096, places = 3, apart = 512, burst_max = 5 };

static unsigned char in[room], mine[room], theirs[room];
static int failures, rank, size;
static uint64_t state;

// The same numbers on all ranks.
static int draw(int below) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    return (int)((state >> 33) % (uint64_t)below);
}

// Numbers whose sums are exact.
static void fill(MPI_Datatype type, int step) {
    for (int i = 0; i < room / 8; ++i) {
        const int value = (i + 3 * rank + step) % 17;
        if (type == MPI_DOUBLE) {
            const double number = value;
            memcpy(in + 8 * i, &number, 8);
        } else {
            const int pair[2] = {value, value + 1};
            memcpy(in + 8 * i, pair, 8);
        }
    }
    for (int i = 0; i < room; ++i) {
        mine[i] = theirs[i] = in[room - 1 - i] & 1;
    }
}

static void compare(const char* what, int step, int result, int expected) {
    const int differ = memcmp(mine, theirs, room) != 0;
    if (differ || (result == MPI_SUCCESS) != (expected == MPI_SUCCESS)) {
        fprintf(stderr, "rank %d, burst %d: %s %s\n", rank, step, what,
                differ ? "differs" : "has another outcome");
        ++failures;
    }
}

#define BOTH(name, ...)                                                                            \
    do {                                                                                           \
        unsigned char* out = mine + to;                                                            \
        const int result = MPI_##name(__VA_ARGS__);                                                \
        out = theirs + to;                                                                         \
        const int expected = PMPI_##name(__VA_ARGS__);                                             \
        compare(#name, step, result, expected);                                                    \
    } while (0)

// Two ints, side by side or with a gap between: one follows the other, often with the same handle.
static MPI_Datatype make_type(int has_gap) {
    MPI_Datatype type;
    if (has_gap) {
        MPI_Type_vector(2, 1, 2, MPI_INT, &type);
    } else {
        MPI_Type_contiguous(2, MPI_INT, &type);
    }
    MPI_Type_commit(&type);
    return type;
}

struct shape {
    int operation, count, root, in_place;
    MPI_Datatype type;
    MPI_Op op;
};

enum { operations = 9 };

static void call(const struct shape* of, int step, int from, int to, MPI_Comm comm) {
    const int n = of->count, root = of->root;
    const MPI_Datatype type = of->type;
    const int in_place = of->in_place;
    const void* data = in_place ? MPI_IN_PLACE : in + from;
    const void* roots = in_place && rank == root ? MPI_IN_PLACE : in + from;
    switch (of->operation) {
    case 0: BOTH(Allreduce, data, out, n, type, of->op, comm); break;
    case 1: BOTH(Reduce, roots, out, n, type, of->op, root, comm); break;
    case 2: BOTH(Scan, data, out, n, type, of->op, comm); break;
    case 3: BOTH(Exscan, data, out, n, type, of->op, comm); break;
    case 4: BOTH(Bcast, out, n, type, root, comm); break;
    case 5: BOTH(Gather, roots, n, type, out, n, type, root, comm); break;
    case 6: BOTH(Allgather, data, n, type, out, n, type, comm); break;
    case 7: BOTH(Reduce_scatter_block, data, out, n, type, of->op, comm); break;
    default: BOTH(Scatter, in + from, n, type, out, n, type, root, comm);
    }
}

#ifndef OPEN_MPI // It refuses that in few operations, corymb in none there.
// After calls that were right: the same memory twice, which MPICH refuses on the rank that gives
// it. That rank makes up for it.
static void alias(int step, MPI_Comm comm) {
    const int to = 0, root = size - 1;
    int results[2];
    for (int i = 0; i < 4; ++i) {
        BOTH(Allreduce, in, out, 2, MPI_INT, MPI_MAX, comm);
        BOTH(Gather, in, 2, MPI_INT, out, 2, MPI_INT, root, comm);
    }
    results[0] = MPI_Allreduce(mine, mine, 2, MPI_INT, MPI_MAX, comm);
    results[1] = PMPI_Allreduce(theirs, theirs, 2, MPI_INT, MPI_MAX, comm);
    compare("Allreduce of the same memory", step, results[0], results[1]);
    const int own = 8 * root;
    results[0] =
        MPI_Gather(rank == root ? mine + own : in, 2, MPI_INT, mine, 2, MPI_INT, root, comm);
    if (results[0] != MPI_SUCCESS) {
        MPI_Gather(in, 2, MPI_INT, mine, 2, MPI_INT, root, comm);
    }
    results[1] =
        PMPI_Gather(rank == root ? theirs + own : in, 2, MPI_INT, theirs, 2, MPI_INT, root, comm);
    if (results[1] != MPI_SUCCESS) {
        PMPI_Gather(in, 2, MPI_INT, theirs, 2, MPI_INT, root, comm);
    }
    compare("Gather of the same memory", step, results[0], results[1]);
}
#endif

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    const int bursts = argc > 1 ? atoi(argv[1]) : 200;
    state = argc > 2 ? (uint64_t)atoi(argv[2]) : 1;
    MPI_Comm comms[2];
    MPI_Comm_dup(MPI_COMM_WORLD, &comms[0]);
    MPI_Comm_split(MPI_COMM_WORLD, 0, 0, &comms[1]);
    MPI_Comm_set_errhandler(comms[0], MPI_ERRORS_RETURN);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    for (int step = 0; step < bursts; ++step) {
        struct shape of;
        of.operation = draw(operations);
        of.count = 1 + 4 * draw(2);
        of.root = draw(2) * (size - 1);
        of.in_place = draw(4) == 0;
        of.op = draw(2) != 0 ? MPI_SUM : MPI_MAX;
        const int is_reduction = of.operation < 4 || of.operation == 7;
        const int which = draw(3), which_comm = draw(2);
        for (int has_gap = 0; has_gap < 2; ++has_gap) {
            MPI_Datatype made = make_type(has_gap);
            const MPI_Datatype types[] = {MPI_INT, MPI_DOUBLE, is_reduction ? MPI_UNSIGNED : made};
            of.type = types[which];
            for (int calls = 1 + draw(burst_max); calls > 0; --calls) {
                fill(of.type, step + calls);
                const int from = apart * draw(places), to = apart * draw(places);
                call(&of, step, from, to, comms[which_comm]);
            }
            MPI_Type_free(&made);
        }
    }
    fill(MPI_INT, 0);
#ifndef OPEN_MPI
    alias(bursts, comms[0]);
#endif
    MPI_Comm_free(&comms[0]);
    MPI_Comm_free(&comms[1]);
    int sum = 0;
    MPI_Allreduce(&failures, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    if (rank == 0) {
        printf("%d bursts, %d differences\n", bursts, sum);
    }
    MPI_Finalize();
    return sum == 0 ? 0 : 1;
}

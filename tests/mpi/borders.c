// SPDX-License-Identifier: Apache-2.0
// What the standard forbids, and MPI libraries do all the same: buffers that have memory in common,
// and types that say nothing of data that is not there. Input counts as it was before the call. All
// calls but the first barriers are corymb's.
#include <mpi.h>

#include <stdio.h>
#include <string.h>

enum { calls = 6, part = 3, most = 64 };

static int rank, size;

static void fill(int* buffer) {
    for (int i = 0; i < most; ++i) {
        buffer[i] = 1000 * rank + i;
    }
}

/// Whether `count` elements are those that rank `from` had from `at` on.
static int is_from(const int* buffer, int count, int from, int at) {
    for (int i = 0; i < count; ++i) {
        if (buffer[i] != 1000 * from + at + i) {
            return 0;
        }
    }
    return 1;
}

static int gather(int* buffer, int root) {
    MPI_Gather(buffer, part, MPI_INT, buffer, part, MPI_INT, root, MPI_COMM_WORLD);
    int wrong = 0;
    for (int i = 0; rank == root && i < size; ++i) {
        wrong += !is_from(buffer + part * i, part, i, 0);
    }
    return wrong;
}

static int scatter(int* buffer, int root) {
    // The root's part goes where another one lies that is still to be sent.
    int* const out = rank == root ? buffer + part * (size - 1 - root) + 1 : buffer;
    MPI_Scatter(buffer, part, MPI_INT, out, part, MPI_INT, root, MPI_COMM_WORLD);
    return !is_from(out, part, root, part * rank);
}

static int gather_all(int* buffer) {
    MPI_Allgather(buffer + 1, part, MPI_INT, buffer, part, MPI_INT, MPI_COMM_WORLD);
    int wrong = 0;
    for (int i = 0; i < size; ++i) {
        wrong += !is_from(buffer + part * i, part, i, 1);
    }
    return wrong;
}

static int exchange(int* buffer) {
    MPI_Alltoall(buffer + 2, part, MPI_INT, buffer, part, MPI_INT, MPI_COMM_WORLD);
    int wrong = 0;
    for (int i = 0; i < size; ++i) {
        wrong += !is_from(buffer + part * i, part, i, 2 + part * rank);
    }
    return wrong;
}

static int reduce_all(int* buffer) {
    MPI_Allreduce(buffer + 1, buffer, 8, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
    return !is_from(buffer, 8, size - 1, 1);
}

static int gather_parts(int* buffer, int root, int is_request) {
    int counts[16], places[16];
    for (int i = 0; i < size; ++i) {
        counts[i] = 1 + i;
        places[i] = 5 * i;
    }
    if (is_request) {
        MPI_Request request;
        MPI_Igatherv(buffer, 1 + rank, MPI_INT, buffer, counts, places, MPI_INT, root,
                     MPI_COMM_WORLD, &request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    } else {
        MPI_Gatherv(buffer, 1 + rank, MPI_INT, buffer, counts, places, MPI_INT, root,
                    MPI_COMM_WORLD);
    }
    int wrong = 0;
    for (int i = 0; rank == root && i < size; ++i) {
        wrong += !is_from(buffer + places[i], counts[i], i, 0);
    }
    return wrong;
}

/// The last rank has nothing, of no type, where the library takes that.
static int say_nothing(void) {
    int none = 0;
#ifdef OPEN_MPI
    const MPI_Datatype type = rank == size - 1 ? MPI_DATATYPE_NULL : MPI_INT;
    return MPI_Scatter(&none, 0, type, &none, 0, MPI_INT, size - 1, MPI_COMM_WORLD);
#else
    MPI_Request request;
    const MPI_Datatype type = rank == size - 1 ? MPI_DATATYPE_NULL : MPI_INT;
    MPI_Bcast(&none, 0, type, 0, MPI_COMM_WORLD);
    MPI_Ibcast(&none, 0, type, 0, MPI_COMM_WORLD, &request);
    return MPI_Wait(&request, MPI_STATUS_IGNORE);
#endif
}

int main(int words, char** word) {
    int wrong = 0, all = 0;
    int buffer[most];
    MPI_Init(&words, &word);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    for (int i = 0; i < 5; ++i) {
        MPI_Barrier(MPI_COMM_WORLD);
    }
    const int has_alias_check = words == 1; // A switch of the library's permits the rest.
    for (int call = 0; call < calls; ++call) {
        wrong += say_nothing() != MPI_SUCCESS;
        fill(buffer), wrong += gather(buffer, size - 1);
        fill(buffer), wrong += scatter(buffer, 0);
        fill(buffer), wrong += gather_all(buffer);
        fill(buffer), wrong += exchange(buffer);
        fill(buffer), wrong += reduce_all(buffer);
        fill(buffer), wrong += gather_parts(buffer, size - 1, 0);
        fill(buffer), wrong += gather_parts(buffer, size - 1, 1);
        if (!has_alias_check) {
            fill(buffer);
            MPI_Allreduce(buffer, buffer, 8, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
            wrong += !is_from(buffer, 8, size - 1, 0);
        }
    }
    MPI_Reduce(&wrong, &all, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
    if (rank == 0) {
        printf("%d wrong\n", all);
    }
    MPI_Finalize();
    return 0;
}

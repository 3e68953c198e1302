// SPDX-License-Identifier: Apache-2.0
// Lists and counts that name at least what comes. The standard wants them exact; MPI libraries give
// what was sent. With an argument two ranks call different operations in the end.
#include <mpi.h>

#include <stdio.h>
#include <string.h>

enum { calls = 20, most = 8 };

static int rank, size;

/// Rank `from` sends so many elements to rank `to`.
static int count_of(int from, int to) {
    return 1 + (from + 2 * to) % 4;
}

static int are_right(const int* data, int call, int from, int to) {
    for (int i = 0; i < count_of(from, to); ++i) {
        if (data[i] != 1000 * from + 100 * to + i + call) {
            return 0;
        }
    }
    return 1;
}

static int try_call(int call, int root, int is_request) {
    int in[16 * most], out[16 * most], exact[16], bounds[16], places[16], bytes[16], wrong = 0;
    MPI_Datatype types[16];
    MPI_Request request;
    for (int to = 0; to < size; ++to) {
        exact[to] = count_of(rank, to);
        bounds[to] = to == rank ? exact[to] : most; // Open MPI wants its own part exact.
        places[to] = most * to;
        bytes[to] = places[to] * (int)sizeof(int);
        types[to] = MPI_INT;
        for (int i = 0; i < most; ++i) {
            in[most * to + i] = 1000 * rank + 100 * to + i + call;
        }
    }
    memset(out, 0, sizeof out);
    if (is_request) {
        MPI_Iscatterv(in, exact, places, MPI_INT, out, most, MPI_INT, root, MPI_COMM_WORLD,
                      &request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    } else {
        MPI_Scatterv(in, exact, places, MPI_INT, out, most, MPI_INT, root, MPI_COMM_WORLD);
    }
    wrong += !are_right(out, call, root, rank);
    memset(out, 0, sizeof out);
    MPI_Gatherv(in + most * root, exact[root], MPI_INT, out, bounds, places, MPI_INT, root,
                MPI_COMM_WORLD);
    for (int from = 0; rank == root && from < size; ++from) {
        wrong += !are_right(out + places[from], call, from, root);
    }
    memset(out, 0, sizeof out);
    MPI_Alltoallv(in, exact, places, MPI_INT, out, bounds, places, MPI_INT, MPI_COMM_WORLD);
    for (int from = 0; from < size; ++from) {
        wrong += !are_right(out + places[from], call, from, rank);
    }
    memset(out, 0, sizeof out);
    MPI_Alltoallw(in, exact, bytes, types, out, bounds, bytes, types, MPI_COMM_WORLD);
    for (int from = 0; from < size; ++from) {
        wrong += !are_right(out + places[from], call, from, rank);
    }
    return wrong;
}

int main(int words, char** word) {
    int wrong = 0, all = 0;
    MPI_Init(&words, &word);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    for (int call = 0; call < calls; ++call) {
        wrong += try_call(call, call % size, call > calls / 2);
    }
    if (words > 1) { // Ranks contradict each other: one is in the MPI, the other is not.
        int in[16 * most] = {0}, out[16 * most], counts[16], places[16];
        for (int i = 0; i < size; ++i) {
            counts[i] = most;
            places[i] = most * i;
        }
        if (rank == 0) {
            MPI_Alltoallv(in, counts, places, MPI_INT, out, counts, places, MPI_INT,
                          MPI_COMM_WORLD);
        } else {
            MPI_Barrier(MPI_COMM_WORLD);
        }
        puts("ended");
    }
    MPI_Reduce(&wrong, &all, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
    if (rank == 0) {
        printf("%d wrong\n", all);
    }
    MPI_Finalize();
    return 0;
}

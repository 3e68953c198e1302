// SPDX-License-Identifier: Apache-2.0
// Allreduces for two and a half seconds, more than a team waits for, then as many exchanges of all
// with all as the argument says, in turns with and without lists, whose results are checked.
#include <mpi.h>

#include <stdio.h>
#include <stdlib.h>

int main(int argc, char** argv) {
    int rank;
    int size;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    const int calls = atoi(argv[1]);
    const double began = MPI_Wtime();
    for (double longest = 0; longest < 2.5;) { // The same on all ranks.
        const double own = MPI_Wtime() - began;
        MPI_Allreduce(&own, &longest, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    }
    int* const in = malloc((size_t)size * sizeof *in);
    int* const out = malloc((size_t)size * sizeof *out);
    int* const counts = malloc((size_t)size * sizeof *counts);
    int* const places = malloc((size_t)size * sizeof *places);
    for (int other = 0; other < size; ++other) {
        counts[other] = 1;
        places[other] = other;
    }
    int wrong = 0;
    for (int call = 0; call < calls; ++call) {
        for (int to = 0; to < size; ++to) {
            in[to] = 1000 * rank + to + call;
        }
        if (call % 2 == 0) {
            MPI_Alltoall(in, 1, MPI_INT, out, 1, MPI_INT, MPI_COMM_WORLD);
        } else {
            MPI_Alltoallv(in, counts, places, MPI_INT, out, counts, places, MPI_INT,
                          MPI_COMM_WORLD);
        }
        for (int from = 0; from < size; ++from) {
            wrong += out[from] != 1000 * from + rank + call;
        }
    }
    int all_wrong = 0;
    MPI_Reduce(&wrong, &all_wrong, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
    if (rank == 0) {
        printf("%d\n", all_wrong);
    }
    free(in);
    free(out);
    free(counts);
    free(places);
    MPI_Finalize();
    return 0;
}

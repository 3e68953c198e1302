// SPDX-License-Identifier: Apache-2.0
// Exchanges by lists, as many short ones, then as many long ones as the argument says, whose
// results are checked.
#include <mpi.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { most_ranks = 4, longest = 65536 };

static char in[most_ranks][longest], out[most_ranks][longest];

int main(int argc, char** argv) {
    int rank;
    int size;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    int wrong = 0;
    for (int call = 0; call < 2 * atoi(argv[1]); ++call) {
        int counts[most_ranks];
        int places[most_ranks];
        for (int other = 0; other < size; ++other) {
            counts[other] = call < atoi(argv[1]) ? 8 : longest;
            places[other] = other * longest;
            memset(in[other], rank * 16 + other + call, (size_t)counts[other]);
        }
        MPI_Alltoallv(in, counts, places, MPI_CHAR, out, counts, places, MPI_CHAR, MPI_COMM_WORLD);
        for (int other = 0; other < size; ++other) {
            const char expected = (char)(other * 16 + rank + call);
            wrong += out[other][0] != expected || out[other][counts[other] - 1] != expected;
        }
    }
    int all_wrong = 0;
    MPI_Reduce(&wrong, &all_wrong, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
    if (rank == 0) {
        printf("%d\n", all_wrong);
    }
    MPI_Finalize();
    return 0;
}

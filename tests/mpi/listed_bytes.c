// SPDX-License-Identifier: Apache-2.0
// Operations with lists and an alltoall, too few for a team: the summary has the bytes of each.
#include <mpi.h>

#include <stdio.h>

enum { most = 16, elements = 3 };
static int counts[most], places[most], places_in_bytes[most];
static MPI_Datatype types[most];
static int from[most * elements], to[most * elements];

int main(int argc, char** argv) {
    int rank, size;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    for (int other = 0; other < size; ++other) {
        counts[other] = elements;
        places[other] = other * elements;
        places_in_bytes[other] = places[other] * (int)sizeof(int);
        types[other] = MPI_INT;
    }
    MPI_Comm comm[3];
    for (int i = 0; i < 3; ++i) {
        MPI_Comm_dup(MPI_COMM_WORLD, &comm[i]);
    }
    MPI_Allgatherv(from, elements, MPI_INT, to, counts, places, MPI_INT, comm[0]);
    MPI_Alltoallv(from, counts, places, MPI_INT, to, counts, places, MPI_INT, comm[0]);
    MPI_Alltoallw(from, counts, places_in_bytes, types, to, counts, places_in_bytes, types,
                  comm[0]);
    MPI_Gatherv(from, elements, MPI_INT, to, counts, places, MPI_INT, 0, comm[1]);
    MPI_Scatterv(from, counts, places, MPI_INT, to, elements, MPI_INT, 0, comm[1]);
    MPI_Reduce_scatter(from, to, counts, MPI_INT, MPI_SUM, comm[1]);
    MPI_Alltoall(from, elements, MPI_INT, to, elements, MPI_INT, comm[2]);
    for (int i = 0; i < 3; ++i) {
        MPI_Comm_free(&comm[i]);
    }
    if (rank == 0) {
        printf("done\n");
    }
    MPI_Finalize();
    return 0;
}

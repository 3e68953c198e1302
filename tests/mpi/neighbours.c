// SPDX-License-Identifier: Apache-2.0
// Operations among neighbours on topologies of each kind: the summary has the bytes of each.
#include <mpi.h>

#include <stdio.h>

enum { elements = 3, most = 4 };
static int from[most * elements], to[most * elements];
static int counts[most], places[most];
static MPI_Aint addresses[most];
static MPI_Datatype types[most];

int main(int argc, char** argv) {
    int rank, size, period = 1, index[2] = {1, 2}, edges[2] = {1, 0};
    MPI_Comm ring, pair, line;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    for (int other = 0; other < most; ++other) {
        counts[other] = elements;
        places[other] = other * elements;
        addresses[other] = places[other] * (MPI_Aint)sizeof(int);
        types[other] = MPI_INT;
    }
    // Two neighbours, which are the same rank; one; and from rank 1 only.
    MPI_Cart_create(MPI_COMM_WORLD, 1, &size, &period, 0, &ring);
    MPI_Graph_create(MPI_COMM_WORLD, 2, index, edges, 0, &pair);
    const int other = 1 - rank, weight = 1;
    MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, rank == 0, &other, &weight, rank == 1, &other,
                                   &weight, MPI_INFO_NULL, 0, &line);
    MPI_Neighbor_allgather(from, elements, MPI_INT, to, elements, MPI_INT, ring);
    MPI_Neighbor_alltoall(from, elements, MPI_INT, to, elements, MPI_INT, ring);
    MPI_Neighbor_alltoallw(from, counts, addresses, types, to, counts, addresses, types, ring);
    MPI_Neighbor_alltoallv(from, counts, places, MPI_INT, to, counts, places, MPI_INT, pair);
    MPI_Neighbor_allgatherv(from, elements, MPI_INT, to, counts, places, MPI_INT, line);
    MPI_Comm_free(&ring);
    MPI_Comm_free(&pair);
    MPI_Comm_free(&line);
    if (rank == 0) {
        printf("done\n");
    }
    MPI_Finalize();
    return 0;
}

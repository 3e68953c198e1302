// SPDX-License-Identifier: Apache-2.0
// So many barriers that take some milliseconds each, since the last rank comes late, or with 0 as long
// as they take. Arguments: barriers, milliseconds; then, if wanted, `persistent`: a request for one
// is made before them, or `again`: behind them a communicator of the same ranks has a dozen more.
// Rank 0 says how many milliseconds the first ones took.
#include <mpi.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void barriers(MPI_Comm comm, int count, int late_ms) {
    int rank = 0;
    int size = 0;
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &size);
    for (int i = 0; i < count; ++i) {
        if (rank == size - 1 && late_ms > 0) {
            usleep((useconds_t)late_ms * 1000);
        }
        MPI_Barrier(comm);
    }
}

int main(int argc, char** argv) {
    const int count = atoi(argv[1]);
    const int late_ms = atoi(argv[2]);
    const char* const mode = argc > 3 ? argv[3] : "";
    MPI_Comm comm;
    MPI_Init(&argc, &argv);
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Comm_set_name(comm, "first");
    if (strcmp(mode, "persistent") == 0) {
        MPI_Request request;
        MPI_Barrier_init(comm, MPI_INFO_NULL, &request);
        MPI_Request_free(&request);
    }
    const double began = MPI_Wtime();
    barriers(comm, count, late_ms);
    const double took = MPI_Wtime() - began;
    int rank = 0;
    MPI_Comm_rank(comm, &rank);
    if (rank == 0) {
        printf("%.0f\n", took * 1e3);
    }
    MPI_Comm_free(&comm);
    if (strcmp(mode, "again") == 0) {
        MPI_Comm_dup(MPI_COMM_WORLD, &comm);
        MPI_Comm_set_name(comm, "second");
        barriers(comm, 12, 0);
        MPI_Comm_free(&comm);
    }
    MPI_Finalize();
    return 0;
}

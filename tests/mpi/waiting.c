// SPDX-License-Identifier: Apache-2.0
// A rank that waits in a collective keeps MPI going: rank 0 has a large message under way, which
// needs rank 0 itself, and waits in a barrier for rank 1, which waits for the message.
#include <mpi.h>

#include <stdio.h>
#include <stdlib.h>

int main(int argc, char** argv) {
    const int bytes = 1 << 22, rounds = argc > 1 ? atoi(argv[1]) : 20;
    int rank, size, bad = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    char* data = calloc(1, (size_t)bytes);
    const double begin = MPI_Wtime();
    for (int round = 0; round < rounds; ++round) {
        if (rank == 0) {
            MPI_Request request;
            data[bytes - 1] = (char)round;
            MPI_Isend(data, bytes, MPI_CHAR, 1, round, MPI_COMM_WORLD, &request);
            MPI_Barrier(MPI_COMM_WORLD);
            MPI_Wait(&request, MPI_STATUS_IGNORE);
        } else {
            if (rank == 1) {
                MPI_Recv(data, bytes, MPI_CHAR, 0, round, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
                bad += data[bytes - 1] != (char)round;
            }
            MPI_Barrier(MPI_COMM_WORLD);
        }
    }
    if (rank == 1) {
        printf("%d rounds, %d wrong\n", rounds, bad);
        fprintf(stderr, "%.3f ms a round\n", (MPI_Wtime() - begin) * 1e3 / rounds);
    }
    free(data);
    MPI_Finalize();
    return bad;
}

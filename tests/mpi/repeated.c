// SPDX-License-Identifier: Apache-2.0
// Broadcasts of one length on a communicator of its own, as many as asked for; all are checked.
#include <mpi.h>

#include <stdio.h>
#include <stdlib.h>

enum { bytes = 8192 };

int main(int argc, char** argv) {
    static unsigned char data[bytes];
    MPI_Init(&argc, &argv);
    const int calls = argc > 1 ? atoi(argv[1]) : 1;
    int rank = 0;
    int wrong = 0;
    MPI_Comm comm;
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Comm_rank(comm, &rank);
    for (int call = 0; call < calls; ++call) {
        for (int i = 0; i < bytes; ++i) {
            data[i] = (unsigned char)(rank == 0 ? call + i : 0);
        }
        MPI_Bcast(data, bytes, MPI_BYTE, 0, comm);
        for (int i = 0; i < bytes; ++i) {
            wrong += data[i] != (unsigned char)(call + i);
        }
    }
    MPI_Comm_free(&comm);
    int all_wrong = 0;
    MPI_Reduce(&wrong, &all_wrong, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
    if (rank == 0) {
        printf("%d calls, %d wrong bytes\n", calls, all_wrong);
    }
    MPI_Finalize();
    return 0;
}

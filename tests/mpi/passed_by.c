/* SPDX-License-Identifier: Apache-2.0
   Requests of collectives that are completed past the adapter. With -DTOOL this is a library, which
   replaces MPI_Wait, as a tool, or has what MPICH's module mpi_f08 of Fortran calls (-DF08); else a
   program, which with -DF08 calls that. */
#include <mpi.h>

#include <stdio.h>
#include <unistd.h>

int mpi_wait_f08_(MPI_Request* request);

#if defined(TOOL) && defined(F08)
int mpi_wait_f08_(MPI_Request* request) {
    return PMPI_Wait(request, MPI_STATUS_IGNORE);
}
#elif defined(TOOL)
int MPI_Wait(MPI_Request* request, MPI_Status* status) {
    return PMPI_Wait(request, status);
}
#else
static int wait_for(MPI_Request* request) {
#ifdef F08
    return mpi_wait_f08_(request);
#else
    return MPI_Wait(request, MPI_STATUS_IGNORE);
#endif
}

int main(int words, char** word) {
    int rank = 0;
    int size = 0;
    int failures = 0;
    MPI_Init(&words, &word);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    for (int i = 0; i < 10; ++i) {
        MPI_Barrier(MPI_COMM_WORLD);
    }
    for (int round = 0; round < 20; ++round) {
        int sum = 0;
        MPI_Request request;
        if (rank == round % size) { /* The others wait for it, or do not. */
            usleep(2000);
        }
        MPI_Iallreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &request);
        wait_for(&request);
        failures += sum != size * (size - 1) / 2;
    }
    MPI_Allreduce(MPI_IN_PLACE, &failures, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    if (rank == 0) {
        printf("%d failures\n", failures);
    }
    PMPI_Finalize(); /* As the module does. */
    return 0;
}
#endif

/* SPDX-License-Identifier: Apache-2.0
   The communicator of a session, which ranks begin to use at different times as seen from MPI_Init:
   the first call of rank 0 comes before that, those of the others after it. */
#include <mpi.h>

#include <stdio.h>

int main(int words, char** word) {
    MPI_Session session;
    MPI_Group group;
    MPI_Comm comm;
    MPI_Request request;
    int rank = 0, size = 0, failures = 0;
    MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &session);
    MPI_Group_from_session_pset(session, "mpi://WORLD", &group);
    MPI_Comm_create_from_group(group, "corymb", MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &comm);
    MPI_Group_free(&group);
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &size);
    if (rank == 0) {
        MPI_Ibarrier(comm, &request);
        MPI_Init(&words, &word);
    } else {
        MPI_Init(&words, &word);
        MPI_Ibarrier(comm, &request);
    }
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    for (int i = 0; i < 20; ++i) {
        int sum = 0, later = 0;
        MPI_Iallreduce(&rank, &later, 1, MPI_INT, MPI_SUM, comm, &request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, comm);
        failures += sum != size * (size - 1) / 2 || later != sum;
    }
    printf("%d failures\n", failures);
    MPI_Comm_free(&comm);
    MPI_Finalize();
    MPI_Session_finalize(&session);
    return 0;
}

// SPDX-License-Identifier: Apache-2.0
// A request that another binding completes, which has found the MPI's functions by itself: rank 1
// comes late, so the data are not there yet. Argument: "nonblocking", "persistent", "freed".
#define _GNU_SOURCE
#include <mpi.h>

#include <dlfcn.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

typedef int (*Wait)(MPI_Request*, MPI_Status*);
#ifdef HAS_PERSISTENT
typedef int (*Free)(MPI_Request*);
#endif

int main(int words, char** word) {
    int rank = 0, sum = 0;
    MPI_Init(&words, &word);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    const Wait wait = (Wait)dlsym(RTLD_DEFAULT, "PMPI_Wait");
    for (int i = 0; i < 6; ++i) {
        MPI_Barrier(MPI_COMM_WORLD);
    }
    int one = 1 + rank;
    MPI_Request request;
    if (strcmp(word[1], "nonblocking") == 0) {
        usleep(rank == 1 ? 200000 : 0);
        MPI_Iallreduce(&one, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &request);
        wait(&request, MPI_STATUS_IGNORE);
        printf("sum %d\n", sum);
    }
#ifdef HAS_PERSISTENT
    if (strcmp(word[1], "persistent") == 0) {
        MPI_Allreduce_init(&one, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, MPI_INFO_NULL,
                           &request);
        usleep(rank == 1 ? 200000 : 0);
        MPI_Start(&request);
        wait(&request, MPI_STATUS_IGNORE);
        printf("sum %d\n", sum);
    }
    if (strcmp(word[1], "freed") == 0) { // An inactive one may be: the next ones are right.
        const Free free_past = (Free)dlsym(RTLD_DEFAULT, "PMPI_Request_free");
        int wrong = 0;
        for (int i = 0; i < 20; ++i) {
            MPI_Request given;
            MPI_Allreduce_init(&one, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, MPI_INFO_NULL,
                               &given);
            MPI_Start(&given);
            MPI_Wait(&given, MPI_STATUS_IGNORE);
            wrong += sum != 3;
            free_past(&given);
            MPI_Request message;
            int from = 0;
            MPI_Irecv(&from, 1, MPI_INT, 1 - rank, 5, MPI_COMM_WORLD, &message);
            MPI_Send(&one, 1, MPI_INT, 1 - rank, 5, MPI_COMM_WORLD);
            MPI_Wait(&message, MPI_STATUS_IGNORE);
            wrong += from != 2 - rank;
        }
        printf("%d wrong\n", wrong);
    }
#endif
    MPI_Finalize();
    return 0;
}

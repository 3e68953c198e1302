// SPDX-License-Identifier: Apache-2.0
// Three threads a rank with a communicator each, and collectives of all kinds on it at the same
// time; the forms with large counts where the MPI has them.
#include <mpi.h>
#include <pthread.h>
#include <stdio.h>

enum { threads = 3, calls = 200, count = 300 };
static int rank, size;

struct one {
    MPI_Comm comm;
    int number, wrong;
};

static int sum_of(int value, MPI_Comm comm) {
    int sum = 0;
#if MPI_VERSION >= 4
    MPI_Allreduce_c(&value, &sum, 1, MPI_INT, MPI_SUM, comm);
#else
    MPI_Allreduce(&value, &sum, 1, MPI_INT, MPI_SUM, comm);
#endif
    return sum;
}

static void* run(void* argument) {
    struct one* const own = argument;
    int out[count], in[count * 8];
    const int ranks = size * (size - 1) / 2;
    for (int call = 0; call < calls; ++call) {
        const int first = 1000 * own->number + call;
        own->wrong += sum_of(rank + first, own->comm) != ranks + size * first;
        for (int i = 0; i < count; ++i) {
            out[i] = rank == call % size ? first + i : -1;
        }
        MPI_Bcast(out, count, MPI_INT, call % size, own->comm);
        MPI_Request request;
#if MPI_VERSION >= 4
        MPI_Iallgather_c(out, count, MPI_INT, in, count, MPI_INT, own->comm, &request);
#else
        MPI_Iallgather(out, count, MPI_INT, in, count, MPI_INT, own->comm, &request);
#endif
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        for (int i = 0; i < count * size; ++i) {
            own->wrong += in[i] != first + i % count;
        }
        MPI_Barrier(own->comm);
    }
    return NULL;
}

int main(int argc, char** argv) {
    struct one all[threads];
    pthread_t started[threads];
    int level = 0, wrong = 0, sum = 0;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (level != MPI_THREAD_MULTIPLE || size > 8) {
        return 1;
    }
    for (int i = 0; i < threads; ++i) {
        all[i] = (struct one){.number = i, .wrong = 0};
        MPI_Comm_dup(MPI_COMM_WORLD, &all[i].comm);
    }
    for (int i = 0; i < threads; ++i) {
        pthread_create(&started[i], NULL, &run, &all[i]);
    }
    for (int i = 0; i < threads; ++i) {
        pthread_join(started[i], NULL);
        wrong += all[i].wrong;
        MPI_Comm_free(&all[i].comm);
    }
    MPI_Reduce(&wrong, &sum, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
    if (rank == 0) {
        printf("%d wrong\n", sum);
    }
    MPI_Finalize();
    return 0;
}

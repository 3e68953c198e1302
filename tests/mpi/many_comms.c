// SPDX-License-Identifier: Apache-2.0
// Makes and frees communicators in loops, each long enough in use to get a team; some with
// nonblocking operations of the MPI's in between. Nothing may pile up.
#include <mpi.h>

#include <stdio.h>
#include <stdlib.h>

static int use(MPI_Comm comm) {
    int size, rank, bad = 0;
    MPI_Comm_size(comm, &size);
    MPI_Comm_rank(comm, &rank);
    for (int i = 0; i < 8; ++i) {
        int one = rank + i, sum = 0;
        MPI_Request request;
        MPI_Ibarrier(comm, &request);
        MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, comm);
        bad += sum != size * (size - 1) / 2 + size * i;
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    }
    return bad;
}

int main(int argc, char** argv) {
    const int rounds = argc > 1 ? atoi(argv[1]) : 30, kept = 70;
    int rank, bad = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int round = 0; round < rounds; ++round) {
        MPI_Comm copy, part, none;
        MPI_Comm_dup(MPI_COMM_WORLD, &copy);
        bad += use(copy);
        MPI_Comm_split(copy, rank % 2 == 0 ? 0 : MPI_UNDEFINED, -rank, &none);
        MPI_Comm_split(copy, rank / 2, -rank, &part);
        MPI_Comm_free(&copy);
        bad += use(part);
        if (none != MPI_COMM_NULL) {
            bad += use(none);
            MPI_Comm_free(&none);
        }
        MPI_Comm_free(&part);
    }
    // More at once than the adapter makes teams for.
    MPI_Comm* many = malloc((size_t)kept * sizeof(MPI_Comm));
    for (int i = 0; i < kept; ++i) {
        MPI_Comm_dup(MPI_COMM_WORLD, &many[i]);
        bad += use(many[i]);
    }
    for (int i = 0; i < kept; ++i) {
        bad += use(many[i]);
        if (i % 2 == 0) { // The others are left to MPI_Finalize.
            MPI_Comm_free(&many[i]);
        }
    }
    free(many);
    if (rank == 0) {
        printf("%d rounds, %d wrong\n", rounds, bad);
    }
    MPI_Finalize();
    return bad;
}

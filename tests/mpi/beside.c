// SPDX-License-Identifier: Apache-2.0
// What goes on beside collectives: one-sided operations on a rank that waits in a barrier, and
// nonblocking operations that cross blocking ones while a communicator gets its team. Strictly, MPI
// wants all collectives in the same order; its libraries do not mind.
#include <mpi.h>

#include <stdio.h>
#include <stdlib.h>

/// Rank 0 locks, writes and unlocks all windows while the others wait for it.
static int write_to_waiting(int rank, int size) {
    int* data = calloc(1, sizeof(int));
    int bad = 0;
    MPI_Win window;
    MPI_Win_create(data, sizeof(int), sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &window);
    for (int round = 1; round <= 6; ++round) {
        if (rank == 0) {
            MPI_Win_lock_all(0, window);
            for (int to = 1; to < size; ++to) {
                MPI_Put(&round, 1, MPI_INT, to, 0, 1, MPI_INT, window);
                MPI_Win_flush(to, window);
            }
            MPI_Win_unlock_all(window);
        }
        MPI_Barrier(MPI_COMM_WORLD);
        if (rank > 0) {
            MPI_Win_lock(MPI_LOCK_SHARED, rank, 0, window);
            bad += *data != round;
            MPI_Win_unlock(rank, window);
        }
        MPI_Barrier(MPI_COMM_WORLD);
    }
    MPI_Win_free(&window);
    free(data);
    return bad;
}

/// Each communicator gets its team at another place of the crossing.
static int cross(int rank, int size) {
    int bad = 0;
    for (int before = 0; before < 6; ++before) {
        MPI_Comm comm;
        MPI_Comm_dup(MPI_COMM_WORLD, &comm);
        for (int i = 0; i < before; ++i) {
            MPI_Barrier(comm);
        }
        for (int round = 0; round < 4; ++round) {
            int one = rank + round, sum = 0;
            MPI_Request request;
            if (rank == round % size) {
                MPI_Iallreduce(&one, &sum, 1, MPI_INT, MPI_SUM, comm, &request);
                MPI_Barrier(comm);
            } else {
                MPI_Barrier(comm);
                MPI_Iallreduce(&one, &sum, 1, MPI_INT, MPI_SUM, comm, &request);
            }
            MPI_Wait(&request, MPI_STATUS_IGNORE);
            bad += sum != size * (size - 1) / 2 + size * round;
        }
        MPI_Comm_free(&comm);
    }
    return bad;
}

/// One rank is many calls ahead when the communicator gets its team.
static int run_ahead(int rank, int size) {
    enum { calls = 70 };
    MPI_Request requests[calls];
    int one = 1, bad = 0, sums[calls];
    MPI_Comm comm;
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    for (int turn = 0; turn < 2; ++turn) {
        for (int i = 0; turn == (rank != 0) && i < calls; ++i) {
            MPI_Iallreduce(&one, &sums[i], 1, MPI_INT, MPI_SUM, comm, &requests[i]);
        }
        for (int i = 0; turn == 0 && i < 5; ++i) {
            MPI_Barrier(comm);
        }
    }
    MPI_Waitall(calls, requests, MPI_STATUSES_IGNORE);
    for (int i = 0; i < calls; ++i) {
        bad += sums[i] != size;
    }
    MPI_Comm_free(&comm);
    return bad;
}

int main(int argc, char** argv) {
    int rank, size, bad, all = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    bad = write_to_waiting(rank, size) + cross(rank, size) + run_ahead(rank, size);
    MPI_Reduce(&bad, &all, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
    if (rank == 0) {
        printf("%d wrong\n", all);
    }
    MPI_Finalize();
    return bad;
}

// SPDX-License-Identifier: Apache-2.0
// Nonblocking allgathers, as many as asked for, all of them checked: "apart", each completed before
// a barrier, in all of MPI's ways; "alone", completed one after the other
// without barriers; "at_once", completed at the end without barriers; "kept", a barrier
// between them, all completed at the end, when their communicator is free; "crossed", as apart, but
// the ranks cross the barrier in turns, which the standard forbids and libraries put up with. Or
// barriers to which rank 1 comes some milliseconds after the others: "late CALLS MILLISECONDS".
#include <mpi.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { length = 4096, most_ranks = 2, most_calls = 200 };

static int in[most_calls][length];
static int out[most_calls][length * most_ranks];

static void complete(int call, MPI_Request* request) {
    // With others in the list, which are null.
    MPI_Request list[3] = {MPI_REQUEST_NULL, *request, MPI_REQUEST_NULL};
    int places[3];
    int flag = 0;
    switch (call % 8) {
    case 0: MPI_Wait(request, MPI_STATUS_IGNORE); return;
    case 1:
        while (flag == 0) {
            MPI_Test(request, &flag, MPI_STATUS_IGNORE);
        }
        return;
    case 2: MPI_Waitall(3, list, MPI_STATUSES_IGNORE); break;
    case 3:
        while (flag == 0) {
            MPI_Testall(3, list, &flag, MPI_STATUSES_IGNORE);
        }
        break;
    case 4: MPI_Waitany(3, list, places, MPI_STATUS_IGNORE); break;
    case 5:
        while (flag == 0) {
            MPI_Testany(3, list, places, &flag, MPI_STATUS_IGNORE);
        }
        break;
    case 6: MPI_Waitsome(3, list, &flag, places, MPI_STATUSES_IGNORE); break;
    default:
        while (flag == 0) {
            MPI_Testsome(3, list, &flag, places, MPI_STATUSES_IGNORE);
        }
    }
    *request = list[1];
}

static int wrong_in(int call, int ranks) {
    int wrong = 0;
    for (int i = 0; i < length * ranks; ++i) {
        wrong += out[call][i] != call * 1000000 + i;
    }
    return wrong;
}

static void come_late(int calls, int late_ms, int rank, MPI_Comm comm) {
    for (int call = 0; call < calls; ++call) {
        if (rank == 1) {
            usleep((useconds_t)late_ms * 1000);
        }
        MPI_Barrier(comm);
    }
}

static void start(int call, int rank, MPI_Comm comm, MPI_Request* request) {
    for (int i = 0; i < length; ++i) {
        in[call][i] = call * 1000000 + rank * length + i;
    }
    MPI_Iallgather(in[call], length, MPI_INT, out[call], length, MPI_INT, comm, request);
}

int main(int argc, char** argv) {
    static MPI_Request requests[most_calls];
    MPI_Init(&argc, &argv);
    const int calls = argc > 2 ? atoi(argv[2]) : 0;
    const int is_apart = argc > 1 && strcmp(argv[1], "apart") == 0;
    const int is_alone = argc > 1 && strcmp(argv[1], "alone") == 0;
    const int is_kept = argc > 1 && strcmp(argv[1], "kept") == 0;
    const int is_crossed = argc > 1 && strcmp(argv[1], "crossed") == 0;
    int rank = 0;
    int ranks = 0;
    MPI_Comm comm;
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &ranks);
    if (argc > 1 && strcmp(argv[1], "late") == 0) {
        come_late(calls, argc > 3 ? atoi(argv[3]) : 0, rank, comm);
        MPI_Finalize();
        return 0;
    }
    for (int i = 0; i < 8; ++i) {
        MPI_Barrier(comm);
    }
    for (int call = 0; call < calls; ++call) {
        const int is_first = is_crossed && call % 3 != 0 && call % 2 == rank % 2;
        if (is_first) {
            MPI_Barrier(comm);
        }
        start(call, rank, comm, &requests[call]);
        if (is_crossed && !is_first) {
            MPI_Barrier(comm);
        }
        if (is_apart || is_crossed || is_alone) {
            complete(call, &requests[call]);
        }
        if (is_apart || is_kept) {
            MPI_Barrier(comm);
        }
    }
    MPI_Comm_free(&comm);
    MPI_Waitall(calls, requests, MPI_STATUSES_IGNORE);
    int wrong = 0;
    for (int call = 0; call < calls; ++call) {
        wrong += wrong_in(call, ranks) + (requests[call] != MPI_REQUEST_NULL);
    }
    int all_wrong = 0;
    MPI_Reduce(&wrong, &all_wrong, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
    if (rank == 0) {
        printf("%d calls, %d wrong\n", calls, all_wrong);
    }
    MPI_Finalize();
    return 0;
}

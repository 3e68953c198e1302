// SPDX-License-Identifier: Apache-2.0
// Programs that make nonblocking collectives, and few others. All results are checked. Arguments:
// how, calls.
//   each      each call is completed before the next one
//   window    eight are under way; even ranks complete the last one first, odd ranks the first one
//   ahead     broadcasts of rank 0, which begins sixty before it completes any; others come late,
//             and rank 0 waits for them before the next sixty
//   sleeps    as window; rank 1 sleeps for some milliseconds in the middle of some
//   chained   a rank begins a call when a message says that the one before it in the call's order
//             has begun it, so that a call that waits for others never returns
//   crossed   as each, and a barrier that comes before a call on half of the ranks, and behind it
//             on the others, which the standard forbids and libraries put up with
//   grid      calls of rows and columns at the same time, completed in another order by each rank
//   freed     a communicator for every few calls, of more and more; some are freed before their
//             calls are complete, which Open MPI alone does not survive
//   few       as each, behind three barriers
//   then      as each, and behind them blocking and persistent calls
#include <mpi.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { length = 64, most_ranks = 16, window = 8, kinds = 5, far = 60, tag = 7 };

#ifdef OPEN_MPI
enum { frees_early = 0 };
#else
enum { frees_early = 1 };
#endif

typedef struct {
    MPI_Comm comm;
    int rank, ranks, call, is_broadcast;
    MPI_Request request;
    int in[length * most_ranks], out[length * most_ranks];
} Call;

static int rank, ranks, wrong;
static Call under_way[far + window];

static int value(int call, int from, int i) {
    return call * 10007 + from * 101 + i;
}

static void begin(Call* one, int call, MPI_Comm comm) {
    one->comm = comm;
    one->call = call;
    MPI_Comm_rank(comm, &one->rank);
    MPI_Comm_size(comm, &one->ranks);
    const int root = call % one->ranks;
    for (int i = 0; i < length * one->ranks; ++i) {
        one->in[i] = value(call, one->rank, i);
        one->out[i] = -1;
    }
    switch (one->is_broadcast ? 1 : call % kinds) {
    case 0:
        MPI_Iallreduce(one->in, one->out, length, MPI_INT, MPI_SUM, comm, &one->request);
        return;
    case 1:
        for (int i = 0; one->rank == (one->is_broadcast ? 0 : root) && i < length; ++i) {
            one->out[i] = value(call, 0, i);
        }
        MPI_Ibcast(one->out, length, MPI_INT, one->is_broadcast ? 0 : root, comm, &one->request);
        return;
    case 2:
        MPI_Ialltoall(one->in, length, MPI_INT, one->out, length, MPI_INT, comm, &one->request);
        return;
    case 3: MPI_Ibarrier(comm, &one->request); return;
    default:
        MPI_Iallgather(one->in, length, MPI_INT, one->out, length, MPI_INT, comm, &one->request);
    }
}

static void check(const Call* one) {
    for (int i = 0; i < length; ++i) {
        int sum = 0;
        for (int from = 0; from < one->ranks; ++from) {
            sum += value(one->call, from, i);
        }
        switch (one->is_broadcast ? 1 : one->call % kinds) {
        case 0: wrong += one->out[i] != sum; break;
        case 1: wrong += one->out[i] != value(one->call, 0, i); break;
        case 2:
            for (int from = 0; from < one->ranks; ++from) {
                wrong +=
                    one->out[from * length + i] != value(one->call, from, one->rank * length + i);
            }
            break;
        case 3: break;
        default:
            for (int from = 0; from < one->ranks; ++from) {
                wrong += one->out[from * length + i] != value(one->call, from, i);
            }
        }
    }
}

static void complete(Call* one) {
    if (one->call % 3 == 0) {
        for (int flag = 0; flag == 0;) {
            MPI_Test(&one->request, &flag, MPI_STATUS_IGNORE);
        }
    } else {
        MPI_Wait(&one->request, MPI_STATUS_IGNORE);
    }
    wrong += one->request != MPI_REQUEST_NULL;
    check(one);
}

static void complete_window(int count, int backwards) {
    for (int i = 0; i < count; ++i) {
        complete(&under_way[backwards ? count - 1 - i : i]);
    }
}

static void each(int calls, MPI_Comm comm, int is_crossed) {
    for (int call = 0; call < calls; ++call) {
        const int is_first = is_crossed && call % 2 == rank % 2;
        if (is_first) {
            MPI_Barrier(comm);
        }
        begin(&under_way[0], call, comm);
        if (is_crossed && !is_first) {
            MPI_Barrier(comm);
        }
        complete(&under_way[0]);
    }
}

static void windows(int calls, MPI_Comm comm, int sleeps) {
    for (int call = 0; call < calls; call += window) {
        for (int i = 0; i < window; ++i) {
            begin(&under_way[i], call + i, comm);
            if (sleeps && rank == 1 && (call + i) % 37 == 5) {
                usleep(5000);
            }
        }
        complete_window(window, rank % 2 == 0);
    }
}

static void ahead(int calls, MPI_Comm comm) {
    const int at_once = rank == 0 ? far : 1;
    for (int call = 0; call < calls; call += far) {
        if (rank != 0) {
            usleep(2000);
        }
        for (int i = 0; i < far; i += at_once) {
            for (int k = 0; k < at_once; ++k) {
                under_way[k].is_broadcast = 1;
                begin(&under_way[k], call + i + k, comm);
            }
            complete_window(at_once, 0);
        }
        for (int other = 1; rank == 0 && other < ranks; ++other) {
            MPI_Recv(NULL, 0, MPI_INT, other, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        }
        if (rank != 0) {
            MPI_Send(NULL, 0, MPI_INT, 0, tag, MPI_COMM_WORLD);
        }
    }
}

static void chained(int calls, MPI_Comm comm) {
    for (int call = 0; call < calls; ++call) {
        const int place = (rank + call) % ranks;
        if (place > 0) {
            MPI_Recv(NULL, 0, MPI_INT, (rank - 1 + ranks) % ranks, tag, MPI_COMM_WORLD,
                     MPI_STATUS_IGNORE);
        }
        begin(&under_way[0], call, comm);
        if (place < ranks - 1) {
            MPI_Send(NULL, 0, MPI_INT, (rank + 1) % ranks, tag, MPI_COMM_WORLD);
        }
        complete(&under_way[0]);
    }
}

static void grid(int calls) {
    MPI_Comm row, column;
    MPI_Comm_split(MPI_COMM_WORLD, rank / 2, rank, &row);
    MPI_Comm_split(MPI_COMM_WORLD, rank % 2, rank, &column);
    MPI_Comm_set_name(row, "own");
    MPI_Comm_set_name(column, "own");
    for (int call = 0; call < calls; ++call) {
        begin(&under_way[0], call, row);
        begin(&under_way[1], call + 1, column);
        begin(&under_way[2], call + 2, row);
        complete_window(3, (rank + call) % 2);
    }
    MPI_Comm_free(&row);
    MPI_Comm_free(&column);
}

static void freed(int calls) {
    for (int call = 0, count = 1; call < calls; ++count) {
        MPI_Comm comm;
        MPI_Comm_dup(MPI_COMM_WORLD, &comm);
        MPI_Comm_set_name(comm, "own");
        const int all = count < calls - call ? count : calls - call;
        for (int i = 0; i < all; ++i, ++call) {
            begin(&under_way[i % 2], call, comm);
            if (i % 2 == 1) {
                complete_window(2, rank % 2);
            }
        }
        if (frees_early && count % 4 == 1) {
            MPI_Comm_free(&comm);
        }
        complete_window(all % 2, rank % 2);
        if (comm != MPI_COMM_NULL) {
            MPI_Comm_free(&comm);
        }
    }
}

static void blocking_ones(MPI_Comm comm) {
    int in = rank, out = -1;
    for (int i = 0; i < 20; ++i) {
        MPI_Allreduce(&in, &out, 1, MPI_INT, MPI_SUM, comm);
        wrong += out != ranks * (ranks - 1) / 2;
    }
#ifdef HAS_PERSISTENT
    MPI_Request request;
    MPI_Allreduce_init(&in, &out, 1, MPI_INT, MPI_SUM, comm, MPI_INFO_NULL, &request);
    for (int i = 0; i < 20; ++i) {
        out = -1;
        MPI_Start(&request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        wrong += out != ranks * (ranks - 1) / 2;
    }
    MPI_Request_free(&request);
#endif
}

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    const char* const how = argc > 2 ? argv[1] : "";
    const int calls = argc > 2 ? atoi(argv[2]) : 0;
    MPI_Comm comm;
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Comm_set_name(comm, "own");
    for (int i = 0; strcmp(how, "few") == 0 && i < 3; ++i) {
        MPI_Barrier(comm);
    }
    if (strcmp(how, "window") == 0 || strcmp(how, "sleeps") == 0) {
        windows(calls, comm, strcmp(how, "sleeps") == 0);
    } else if (strcmp(how, "ahead") == 0) {
        ahead(calls, comm);
    } else if (strcmp(how, "chained") == 0) {
        chained(calls, comm);
    } else if (strcmp(how, "grid") == 0) {
        grid(calls);
    } else if (strcmp(how, "freed") == 0) {
        freed(calls);
    } else {
        each(calls, comm, strcmp(how, "crossed") == 0);
    }
    if (strcmp(how, "then") == 0) {
        blocking_ones(comm);
    }
    int all_wrong = 0;
    MPI_Reduce(&wrong, &all_wrong, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
    if (rank == 0) {
        printf("%d wrong\n", all_wrong);
    }
    MPI_Finalize();
    return 0;
}

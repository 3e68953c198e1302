// SPDX-License-Identifier: Apache-2.0
// Requests of collectives beside what tests/mpi/requests.c does, by the first argument; the second
// one, "multiple", asks for MPI_THREAD_MULTIPLE:
//   large       operations of up to a megabyte, all under way at once, on two communicators
//   elsewhere   a rank that waits for messages of the MPI's own goes on with what it has begun
//   unfinished  MPI_Finalize with operations under way, begun in another order on each rank
//   differ      ranks that call different operations
//   starts      persistent ones, thousands of starts in opposite order on each other rank
//   made        persistent ones that are made and freed all the time, some never started
//   computes    a rank begins a long operation and computes; the others are done before
//   dead        rank 1 is killed between two starts of persistent ones; the others say who is told
#include "limits.h"

#include <mpi.h>

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { sizes = 3, kinds = 4 };

static const int counts[sizes] = {700, 9000, 60000};
static int rank, size, failures;

// Corymb takes over from the fourth blocking collective on.
static MPI_Comm make_comm(void) {
    MPI_Comm comm;
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    for (int k = 0; k < 5; ++k) {
        MPI_Barrier(comm);
    }
    return comm;
}

struct buffers {
    int *in, *sum, *all, *out, *root;
};

static int number(int of, int place) {
    return (of * 7919 + place * 31) % 10007;
}

static void start(struct buffers* b, int count, MPI_Comm comm, MPI_Request* requests) {
    const size_t whole = (size_t)count * (size_t)size * sizeof(int);
    b->in = malloc(whole);
    b->sum = malloc(whole);
    b->all = malloc(whole);
    b->out = malloc(whole);
    b->root = malloc(whole);
    for (int k = 0; k < count * size; ++k) {
        b->in[k] = number(rank, k);
        b->root[k] = number(rank, k + 1);
    }
    MPI_Iallreduce(b->in, b->sum, count, MPI_INT, MPI_SUM, comm, &requests[0]);
    MPI_Iallgather(b->in, count, MPI_INT, b->all, count, MPI_INT, comm, &requests[1]);
    MPI_Ialltoall(b->in, count, MPI_INT, b->out, count, MPI_INT, comm, &requests[2]);
    MPI_Ibcast(b->root, count, MPI_INT, size - 1, comm, &requests[3]);
}

static void check(struct buffers* b, int count) {
    for (int k = 0; k < count; ++k) {
        int sum = 0;
        for (int r = 0; r < size; ++r) {
            sum += number(r, k);
            failures += b->all[r * count + k] != number(r, k);
            failures += b->out[r * count + k] != number(r, rank * count + k);
        }
        failures += b->sum[k] != sum || b->root[k] != number(size - 1, k + 1);
    }
    free(b->in);
    free(b->sum);
    free(b->all);
    free(b->out);
    free(b->root);
}

static void large(void) {
    MPI_Comm comms[2] = {make_comm(), make_comm()};
    for (int round = 0; round < 3; ++round) {
        MPI_Request requests[2 * sizes * kinds];
        struct buffers buffers[2 * sizes];
        for (int k = 0; k < 2 * sizes; ++k) {
            start(&buffers[k], counts[k / 2], comms[k % 2], &requests[k * kinds]);
        }
        if (round == 1) { // Another order on each rank.
            for (int k = 0; k < 2 * sizes * kinds; ++k) {
                MPI_Wait(&requests[(k * 5 + rank) % (2 * sizes * kinds)], MPI_STATUS_IGNORE);
            }
        } else {
            MPI_Waitall(2 * sizes * kinds, requests, MPI_STATUSES_IGNORE);
        }
        for (int k = 0; k < 2 * sizes; ++k) {
            check(&buffers[k], counts[k / 2]);
        }
    }
    MPI_Comm_free(&comms[0]);
    MPI_Comm_free(&comms[1]);
}

// Rank 0 waits in a receive for the last rank, which waits for operations that need rank 0.
static void elsewhere(void) {
    MPI_Comm comm = make_comm();
    for (int round = 0; round < 20; ++round) {
        int in = rank + round, sum = 0, word = -1;
        MPI_Request requests[2];
        MPI_Iallreduce(&in, &sum, 1, MPI_INT, MPI_SUM, comm, &requests[0]);
        MPI_Ibarrier(comm, &requests[1]);
        if (rank == 0) {
            MPI_Recv(&word, 1, MPI_INT, size - 1, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            failures += word != round;
        }
        MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
        failures += sum != size * (size - 1) / 2 + size * round;
        if (rank == size - 1) {
            MPI_Send(&round, 1, MPI_INT, 0, 3, MPI_COMM_WORLD);
        }
    }
    MPI_Comm_free(&comm);
}

static void computes(void) {
    enum { count = 300000 };
    static int in[count], sum[count];
    MPI_Comm comm = make_comm();
    MPI_Request request;
    MPI_Iallreduce(in, sum, count, MPI_INT, MPI_SUM, comm, &request); // Plans are made.
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Barrier(comm);
    const double begin = MPI_Wtime();
    MPI_Iallreduce(in, sum, count, MPI_INT, MPI_SUM, comm, &request);
    for (struct timespec now = {0}, until = {0}; rank == 0;) {
        clock_gettime(CLOCK_MONOTONIC, &now);
        until.tv_sec = until.tv_sec == 0 ? now.tv_sec + 4 : until.tv_sec;
        if (now.tv_sec >= until.tv_sec) {
            break;
        }
    }
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    failures += rank != 0 && MPI_Wtime() - begin > 2;
    MPI_Comm_free(&comm);
}

static void unfinished(void) {
    MPI_Comm comms[2] = {make_comm(), make_comm()};
    static int sums[4], in = 1;
    static MPI_Request requests[4];
    for (int k = 0; k < 4; ++k) {
        MPI_Iallreduce(&in, &sums[k], 1, MPI_INT, MPI_SUM, comms[(k + rank) % 2], &requests[k]);
    }
}

static void differ(void) {
    MPI_Comm comm = make_comm();
    int word = 0;
    MPI_Request request;
    if (rank == size - 1) {
        MPI_Ibcast(&word, 1, MPI_INT, 0, comm, &request);
    } else {
        MPI_Ibarrier(comm, &request);
    }
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Barrier(comm);
}

#ifdef HAS_PERSISTENT

enum { kept = 4 };

struct persistent {
    int in[kept], out[kept];
    MPI_Request requests[kept];
};

static void make_persistent(struct persistent* p, MPI_Comm comm) {
    MPI_Info none = MPI_INFO_NULL;
    MPI_Allreduce_init(&p->in[0], &p->out[0], 1, MPI_INT, MPI_SUM, comm, none, &p->requests[0]);
    MPI_Barrier_init(comm, none, &p->requests[1]);
    MPI_Scan_init(&p->in[2], &p->out[2], 1, MPI_INT, MPI_SUM, comm, none, &p->requests[2]);
    MPI_Bcast_init(&p->out[3], 1, MPI_INT, size - 1, comm, none, &p->requests[3]);
}

static void run_persistent(struct persistent* p, int round) {
    p->in[0] = rank + round;
    p->in[2] = rank * round;
    p->out[3] = rank + 5 * round;
    for (int k = 0; k < kept; ++k) {
        MPI_Start(&p->requests[rank % 2 == 0 ? k : kept - 1 - k]);
    }
    MPI_Waitall(kept, p->requests, MPI_STATUSES_IGNORE);
    failures += p->out[0] != size * (size - 1) / 2 + size * round;
    failures += p->out[2] != rank * (rank + 1) / 2 * round;
    failures += p->out[3] != size - 1 + 5 * round;
}

static void free_persistent(struct persistent* p) {
    for (int k = 0; k < kept; ++k) {
        MPI_Request_free(&p->requests[k]);
        failures += p->requests[k] != MPI_REQUEST_NULL;
    }
}

static long resident_kib(void) {
    long pages = 0;
    FILE* file = fopen("/proc/self/statm", "r");
    if (file == NULL || fscanf(file, "%*s %ld", &pages) != 1) {
        ++failures;
    }
    fclose(file);
    return pages * 4;
}

static void starts(void) {
    MPI_Comm comm = make_comm();
    struct persistent all;
    long before = 0;
    make_persistent(&all, comm);
    for (int round = 0; round < 3000; ++round) {
        if (round == 1000) {
            before = resident_kib();
        }
        run_persistent(&all, round);
    }
    failures += resident_kib() - before > 1024;
    free_persistent(&all);
    MPI_Comm_free(&comm);
}

static void made(void) {
    MPI_Comm comm = make_comm();
    for (int round = 0; round < 300; ++round) {
        struct persistent used, unused;
        make_persistent(&unused, comm);
        make_persistent(&used, comm);
        run_persistent(&used, round);
        if (round % 2 == rank % 2) {
            free_persistent(&unused);
        }
        run_persistent(&used, round + 1);
        if (round % 2 != rank % 2) {
            free_persistent(&unused);
        }
        free_persistent(&used);
    }
    MPI_Comm_free(&comm);
}

static void dead(void) {
    MPI_Comm comm = make_comm();
    struct persistent all;
    int error = MPI_SUCCESS;
    make_persistent(&all, comm);
    run_persistent(&all, 1);
    MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
    if (rank == 1) {
        raise(SIGKILL);
    }
    for (int k = 0; k < 2; ++k) {
        MPI_Start(&all.requests[k]);
    }
    for (int k = 0; k < 2; ++k) {
        error = MPI_Wait(&all.requests[k], MPI_STATUS_IGNORE) != MPI_SUCCESS ? 1 : error;
    }
    printf("rank %d was %s\n", rank, error != MPI_SUCCESS ? "told" : "not told");
    fflush(stdout);
    // Its node sees it at once, and who ends takes the others along.
    sleep(rank == 0 ? scaled(8) : 0);
    _exit(0); // MPI_Finalize would wait for the dead one.
}

#else

static void starts(void) {}
static void made(void) {}
static void dead(void) {}

#endif

int main(int argc, char** argv) {
    const char* mode = argc > 1 ? argv[1] : "large";
    int sum = 0;
    const int is_multiple = argc > 2 && strcmp(argv[2], "multiple") == 0;
    int level = MPI_THREAD_SINGLE;
    MPI_Init_thread(&argc, &argv, is_multiple ? MPI_THREAD_MULTIPLE : MPI_THREAD_SINGLE, &level);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (strcmp(mode, "large") == 0) {
        large();
    } else if (strcmp(mode, "elsewhere") == 0) {
        elsewhere();
    } else if (strcmp(mode, "computes") == 0) {
        computes();
    } else if (strcmp(mode, "unfinished") == 0) {
        unfinished();
    } else if (strcmp(mode, "starts") == 0) {
        starts();
    } else if (strcmp(mode, "made") == 0) {
        made();
    } else if (strcmp(mode, "dead") == 0) {
        dead();
    } else {
        differ();
    }
    PMPI_Allreduce(&failures, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    if (rank == 0) {
        printf("%s: %d failures\n", mode, sum);
    }
    MPI_Finalize();
    return sum != 0;
}

// SPDX-License-Identifier: Apache-2.0
// How much of a nonblocking or persistent collective an MPI program can hide behind computation.
// Arguments: rounds, microseconds that a message takes between nodes, then operations as NAME:BYTES
// with NAME of barrier, allreduce or allgather, or one of these with _init. Rank 0 prints a line of
// JSON for each.
//
// pure: start and wait. poll: start, then a computation that takes as long, in slices with a test
// after each, and wait. wait: the same without tests. In each iteration each is done once, after a
// pause, all ranks beginning at the same time (their nodes are on one machine and have one clock);
// its time is that of the slowest rank. The lower quartile of all iterations counts, as others on
// the machine only slow them down.
//
// The computation is a stretch of time, not of work: nodes made of namespaces have no network card,
// so the kernel does its work on the processors of the ranks, whoever is on them.
#define _GNU_SOURCE
#include <mpi.h>

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { slices = 16, styles = 3, rounds_most = 10000 };
enum style { pure, poll, wait };

static int rank, size;
static int64_t delay_ns; // Of a message between nodes.

static int64_t now_ns(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

static void compute_until(int64_t end_ns) {
    while (now_ns() < end_ns) {
    }
}

struct operation {
    char name[32];
    long bytes;
    int is_persistent;
    double *in, *out;
    MPI_Request request; // Of a persistent one.
};

static int count_of(const struct operation* o) {
    return (int)(o->bytes / (long)sizeof(double));
}

static void start(struct operation* o, MPI_Request* request) {
    const int count = count_of(o);
    if (o->is_persistent) {
        *request = o->request;
        MPI_Start(request);
    } else if (strncmp(o->name, "barrier", 7) == 0) {
        MPI_Ibarrier(MPI_COMM_WORLD, request);
    } else if (strncmp(o->name, "allreduce", 9) == 0) {
        MPI_Iallreduce(o->in, o->out, count, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD, request);
    } else {
        MPI_Iallgather(o->in, count, MPI_DOUBLE, o->out, count, MPI_DOUBLE, MPI_COMM_WORLD,
                       request);
    }
}

static void prepare(struct operation* o) {
    const int count = count_of(o);
    if (strncmp(o->name, "barrier", 7) == 0) {
        MPI_Barrier_init(MPI_COMM_WORLD, MPI_INFO_NULL, &o->request);
    } else if (strncmp(o->name, "allreduce", 9) == 0) {
        MPI_Allreduce_init(o->in, o->out, count, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD, MPI_INFO_NULL,
                           &o->request);
    } else {
        MPI_Allgather_init(o->in, count, MPI_DOUBLE, o->out, count, MPI_DOUBLE, MPI_COMM_WORLD,
                           MPI_INFO_NULL, &o->request);
    }
}

static double value_of(int of_rank, int iteration, int at) {
    return of_rank + 1 + 1000.0 * (iteration % 512) + at % 8;
}

// What this rank contributes, anew for each operation.
static void write_input(struct operation* o, int iteration) {
    for (int i = 0; i < count_of(o); ++i) {
        o->in[i] = value_of(rank, iteration, i);
    }
}

// Reads the whole result; a wrong one ends the run.
static void check_output(const struct operation* o, int iteration) {
    const int count = count_of(o);
    const int is_sum = strncmp(o->name, "allreduce", 9) == 0;
    const int parts = strncmp(o->name, "allgather", 9) == 0 ? size : is_sum ? 1 : 0;
    for (int part = 0; part < parts; ++part) {
        for (int i = 0; i < count; ++i) {
            const double sum = size * value_of(0, iteration, i) + size * (size - 1) / 2.0;
            if (o->out[(size_t)part * (size_t)count + (size_t)i] !=
                (is_sum ? sum : value_of(part, iteration, i))) {
                fprintf(stderr, "overlap: rank %d: wrong result of %s\n", rank, o->name);
                MPI_Abort(MPI_COMM_WORLD, 1);
            }
        }
    }
}

static void perform(struct operation* o, enum style style, int64_t work_ns) {
    MPI_Request request;
    int is_done = 0;
    start(o, &request);
    const int64_t begin = now_ns();
    for (int i = 1; style == poll && i <= slices; ++i) {
        compute_until(begin + work_ns * i / slices);
        if (!is_done) {
            MPI_Test(&request, &is_done, MPI_STATUS_IGNORE);
        }
    }
    if (style == wait) {
        compute_until(begin + work_ns);
    }
    if (!is_done) {
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    }
}

// Nanoseconds from the common beginning until the last rank is done.
static double measure(struct operation* o, enum style style, int64_t work_ns) {
    const struct timespec pause = {0, 5000000}; // What a limited link may send at once is back.
    static int iteration;                       // The same on all ranks.
    int64_t begin = 0, own, slowest;
    write_input(o, ++iteration);
    PMPI_Barrier(MPI_COMM_WORLD);
    nanosleep(&pause, NULL);
    PMPI_Barrier(MPI_COMM_WORLD);
    begin = now_ns() + delay_ns + 300000 + 50000 * size; // For everybody to hear of it.
    PMPI_Bcast(&begin, 1, MPI_INT64_T, 0, MPI_COMM_WORLD);
    compute_until(begin);
    perform(o, style, work_ns);
    own = now_ns() - begin;
    check_output(o, iteration);
    PMPI_Allreduce(&own, &slowest, 1, MPI_INT64_T, MPI_MAX, MPI_COMM_WORLD);
    return (double)slowest;
}

static int compare(const void* one, const void* other) {
    const double a = *(const double*)one, b = *(const double*)other;
    return (a > b) - (a < b);
}

static double lower_quartile(double* values, int count) {
    qsort(values, (size_t)count, sizeof *values, compare);
    return values[count / 4];
}

static double hidden(double total, double work_ns, double pure_ns) {
    return fmin(100, fmax(0, 100 * (1 - (total - work_ns) / pure_ns)));
}

static void run(struct operation* o, int rounds) {
    static double times[styles][rounds_most];
    double typical[styles];
    int64_t work_ns;
    for (int i = 0; i < 10 || i < rounds / 2; ++i) {
        times[pure][i] = measure(o, pure, 0);
    }
    work_ns = (int64_t)lower_quartile(times[pure], rounds / 2 > 10 ? rounds / 2 : 10);
    PMPI_Bcast(&work_ns, 1, MPI_INT64_T, 0, MPI_COMM_WORLD);
    for (int i = 0; i < rounds; ++i) {
        for (int k = 0; k < styles; ++k) {
            const int style = (i + k) % styles;
            times[style][i] = measure(o, (enum style)style, work_ns);
        }
    }
    for (int style = 0; style < styles; ++style) {
        typical[style] = lower_quartile(times[style], rounds);
    }
    if (rank == 0) {
        printf("{\"operation\": \"%s\", \"bytes\": %ld, \"ranks\": %d, \"pure_us\": %.1f, "
               "\"work_us\": %.1f, \"poll_us\": %.1f, \"wait_us\": %.1f, \"poll_percent\": %.1f, "
               "\"wait_percent\": %.1f}\n",
               o->name, o->bytes, size, typical[pure] / 1e3, (double)work_ns / 1e3,
               typical[poll] / 1e3, typical[wait] / 1e3,
               hidden(typical[poll], (double)work_ns, typical[pure]),
               hidden(typical[wait], (double)work_ns, typical[pure]));
        fflush(stdout);
    }
}

static int run_named(const char* words, int rounds) {
    struct operation o = {.bytes = 0, .request = MPI_REQUEST_NULL};
    if (sscanf(words, "%31[a-z_]:%ld", o.name, &o.bytes) != 2 || o.bytes < 0) {
        fprintf(stderr, "overlap: %s is not NAME:BYTES\n", words);
        return 0;
    }
    o.is_persistent = strstr(o.name, "_init") != NULL;
    o.in = calloc((size_t)o.bytes + sizeof(double), 1);
    o.out = calloc((size_t)o.bytes * (size_t)size + sizeof(double), 1);
    if (o.in == NULL || o.out == NULL) {
        fprintf(stderr, "overlap: no memory for %ld bytes\n", o.bytes);
        return 0;
    }
    if (o.is_persistent) {
        prepare(&o);
    }
    run(&o, rounds);
    if (o.is_persistent) {
        MPI_Request_free(&o.request);
    }
    free(o.in);
    free(o.out);
    return 1;
}

int main(int argc, char** argv) {
    const int rounds = argc > 1 ? atoi(argv[1]) : 0;
    if (argc < 3 || rounds < 1 || rounds > rounds_most) {
        fputs("usage: overlap ROUNDS MICROSECONDS NAME:BYTES...\n", stderr);
        return 2;
    }
    delay_ns = atol(argv[2]) * 1000;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    for (int i = 0; i < 6; ++i) { // Corymb takes over from the fourth on.
        MPI_Barrier(MPI_COMM_WORLD);
    }
    for (int i = 3; i < argc; ++i) {
        if (!run_named(argv[i], rounds)) {
            MPI_Abort(MPI_COMM_WORLD, 2);
        }
    }
    MPI_Finalize();
    return 0;
}

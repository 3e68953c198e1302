/* SPDX-License-Identifier: Apache-2.0
   Loops of collectives as OSU's benchmarks have them, with the results checked; loops.py runs it.
   Arguments: milliseconds of a case, then modes (blocking, nonblocking, persistent), operations
   (payload.h) and bytes of a part, each a list with commas. Rank 0 prints a line for each case:
   MODE OPERATION BYTES MICROSECONDS MICROSECONDS_WITH_BARRIER.

   Each rank times every iteration by itself; a barrier follows it, which is not in the first of the
   two times. Both are means over iterations and ranks; the first calls warm up and are not counted.
   A rank that leaves the barrier late finds what others have sent it: then the first time says more
   of the barrier than of the operation, and the second one is what a program waits.
   What the program needs for itself goes by PMPI's names. */
#include "mpi_calls.h"

enum { first_calls = 20, judged_calls = 5, warm_up_most = 200, iterations_most = 5000 };

static int rank, size;

/* Of a call, alone and with the barrier behind it. */
struct times {
    double alone_us, with_barrier_us;
};

/* Nanoseconds of an iteration on this rank. */
static double timed(const struct actions* actions) {
    const int64_t begin = now_ns();
    actions->once(actions->state);
    const int64_t end = now_ns();
    MPI_Barrier(MPI_COMM_WORLD);
    return (double)(end - begin);
}

static int between(double value, int least, int most) {
    return value < least ? least : value > most ? most : (int)value;
}

/* Mean over ranks and iterations. How many there are is rank 0's to say, by some that come after
   the first ones, in which libraries connect, and by what follows them: a barrier may take longer
   than the operation. */
static struct times measure(const struct actions* actions, double budget_ns) {
    for (int i = 0; i < first_calls; ++i) {
        timed(actions);
    }
    const int64_t begin = now_ns();
    for (int i = 0; i < judged_calls; ++i) {
        timed(actions);
    }
    const double one_ns = (double)(now_ns() - begin) / judged_calls;
    int counts[2] = {between(budget_ns / 4 / one_ns, 0, warm_up_most),
                     between(budget_ns / one_ns, judged_calls, iterations_most)};
    PMPI_Bcast(counts, 2, MPI_INT, 0, MPI_COMM_WORLD);
    for (int i = 0; i < counts[0]; ++i) {
        timed(actions);
    }
    double own[2] = {0, 0}, all[2] = {0, 0};
    const int64_t first = now_ns();
    for (int i = 0; i < counts[1]; ++i) {
        own[0] += timed(actions);
    }
    own[1] = (double)(now_ns() - first);
    PMPI_Reduce(own, all, 2, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
    const double calls_us = 1e3 * counts[1] * size;
    return (struct times){all[0] / calls_us, all[1] / calls_us};
}

/* Returns whether the result is right on all ranks, the same on all of them. */
static int run(const char* mode, const char* operation, const char* bytes, double budget_ns) {
    const struct session session = {.rank = rank, .ranks = size};
    struct command command = {.bytes = strtoul(bytes, NULL, 10)};
    struct work w = {.request = MPI_REQUEST_NULL, .receive = MPI_REQUEST_NULL};
    struct actions actions = {.state = &w};
    snprintf(command.operation, sizeof command.operation, "%s", operation);
    if (operation_of(operation) >= op_pingpong) {
        fprintf(stderr, "loops: no operation %s\n", operation);
        return 0;
    }
    if (payload_make(&w.payload, &session, &command) != 0) {
        fprintf(stderr, "loops: no memory for %s of %s bytes\n", operation, bytes);
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
    if (!choose(mode, &w, &actions)) {
        fprintf(stderr, "loops: this library has no mode %s\n", mode);
        return 0;
    }
    const struct times times = measure(&actions, budget_ns);
    release(&w.request);
    const int own = payload_is_right(&w.payload);
    int all = 0;
    PMPI_Allreduce(&own, &all, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
    payload_free(&w.payload);
    if (rank == 0 && all) {
        printf("%s %s %s %.3f %.3f\n", mode, operation, bytes, times.alone_us,
               times.with_barrier_us);
        fflush(stdout);
    } else if (!own) {
        fprintf(stderr, "loops: rank %d: wrong result of %s %s, %s bytes\n", rank, mode, operation,
                bytes);
    }
    return all;
}

/* The next word of a list, null at its end. */
static const char* next_word(const char** list, char* word, size_t room) {
    const size_t length = strcspn(*list, ",");
    if (length == 0) {
        return NULL;
    }
    snprintf(word, room, "%.*s", (int)length, *list);
    *list += length + ((*list)[length] == ',');
    return word;
}

int main(int argc, char** argv) {
    char mode[word_max], operation[word_max], bytes[word_max];
    int is_right = 1;
    if (argc != 5) {
        fputs("usage: loops MILLISECONDS MODES OPERATIONS BYTES\n", stderr);
        return 2;
    }
    const double budget_ns = 1e6 * atof(argv[1]);
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    for (const char* modes = argv[2]; is_right && next_word(&modes, mode, sizeof mode);) {
        for (const char* names = argv[3];
             is_right && next_word(&names, operation, sizeof operation);) {
            for (const char* sizes = argv[4]; is_right && next_word(&sizes, bytes, sizeof bytes);) {
                is_right = run(mode, operation, bytes, budget_ns);
            }
        }
    }
    MPI_Finalize();
    return is_right ? 0 : 1;
}

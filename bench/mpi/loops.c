/* SPDX-License-Identifier: Apache-2.0
   Loops of collectives as OSU's benchmarks have them, with the results checked; loops.py runs it.
   Arguments: milliseconds of a case, then modes (blocking, nonblocking, persistent), operations
   (payload.h) and bytes of a part, each a list with commas. Rank 0 prints a line for each case:
   MODE OPERATION BYTES MICROSECONDS MICROSECONDS_WITH_BARRIER MICROSECONDS_IN_A_ROW.

   Each rank times every iteration by itself; a barrier follows it, which is not in the first of the
   times. Inputs are written anew before each call and results are read whole after it; both are in
   the two other times. Roots move on with every call, but for persistent operations. The last time
   is of as many calls in a row, with one barrier behind them all, as in Intel's benchmarks. All are
   means over iterations and ranks; the first calls warm up and are not counted. A rank that leaves
   the barrier late finds what others have sent it. Then the first time says more of the barrier
   than of the operation, and the second one is what a program waits.
   What the program needs for itself goes by PMPI's names.

   With a fifth argument, "both", calls by MPI's names and by PMPI's take turns, a millisecond each,
   and a line has, by PMPI's and by MPI's: MODE OPERATION BYTES, all times of the one, all of the
   other, and their ratios, all of them medians over the turns. A machine whose moods last
   longer than a turn has them for both. */
#include "mpi_calls.h"
#include "plain_calls.h"

enum { first_calls = 20, judged_calls = 5, warm_up_most = 200, iterations_most = 5000 };
enum { turns_least = 5, turns_most = 101, turn_calls_least = 4 };

static const double turn_ns = 1e6;
static int rank, size;
static int wrong; /* Calls with a wrong result on this rank. */

/* Microseconds of a call: alone, with the barrier behind it, in a row of calls. */
enum { alone, with_barrier, in_a_row, time_count };

struct times {
    double us[time_count];
};

/* Whose calls they are. */
struct side {
    struct work w;
    int iteration; /* The same on all ranks. */
    struct actions actions;
    int (*barrier)(MPI_Comm);
    void (*release)(MPI_Request*);
};

/* Writes the inputs anew, calls, reads the whole result; nanoseconds of the call alone. */
static double call(struct side* side) {
    side->actions.renew(side->actions.state, side->iteration++);
    const int64_t begin = now_ns();
    side->actions.once(side->actions.state);
    const int64_t end = now_ns();
    wrong += !side->actions.is_right(side->actions.state);
    return (double)(end - begin);
}

/* As call, and a barrier behind it. */
static double timed(struct side* side) {
    const double time = call(side);
    side->barrier(MPI_COMM_WORLD);
    return time;
}

static int between(double value, int least, int most) {
    return value < least ? least : value > most ? most : (int)value;
}

/* Nanoseconds of an iteration with its barrier, which may take longer than the operation. */
static double judge(struct side* side) {
    for (int i = 0; i < first_calls; ++i) {
        timed(side);
    }
    const int64_t begin = now_ns();
    for (int i = 0; i < judged_calls; ++i) {
        timed(side);
    }
    return (double)(now_ns() - begin) / judged_calls;
}

/* Mean over ranks and iterations. */
static struct times mean_of(struct side* side, int iterations) {
    struct times own = {{0}}, all = {{0}};
    int64_t begin = now_ns();
    for (int i = 0; i < iterations; ++i) {
        own.us[alone] += timed(side);
    }
    own.us[with_barrier] = (double)(now_ns() - begin);
    begin = now_ns();
    for (int i = 0; i < iterations; ++i) {
        call(side);
    }
    side->barrier(MPI_COMM_WORLD);
    own.us[in_a_row] = (double)(now_ns() - begin);
    PMPI_Reduce(own.us, all.us, time_count, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
    for (int k = 0; k < time_count; ++k) {
        all.us[k] /= 1e3 * iterations * size;
    }
    return all;
}

/* How many iterations there are is rank 0's to say, by some that come after the first ones, in
   which libraries connect. */
static struct times measure(struct side* side, double budget_ns) {
    const double one_ns = judge(side);
    int counts[2] = {between(budget_ns / 4 / one_ns, 0, warm_up_most),
                     between(budget_ns / one_ns, judged_calls, iterations_most)};
    PMPI_Bcast(counts, 2, MPI_INT, 0, MPI_COMM_WORLD);
    for (int i = 0; i < counts[0]; ++i) {
        timed(side);
    }
    return mean_of(side, counts[1]);
}

static int by_size(const void* a, const void* b) {
    const double x = *(const double*)a, y = *(const double*)b;
    return (x > y) - (x < y);
}

static double median(double* values, int count) {
    qsort(values, (size_t)count, sizeof *values, by_size);
    return values[count / 2];
}

/* Prints what comes of turns between the MPI's own calls and the other ones. */
static void compare(struct side* plain, struct side* other, double budget_ns) {
    static double values[3 * time_count][turns_most];
    const double one_ns[2] = {judge(plain), judge(other)};
    const double both_ns = one_ns[0] + one_ns[1];
    int counts[3] = {between(turn_ns / one_ns[1], turn_calls_least, iterations_most)};
    counts[1] = between(budget_ns / (counts[0] * both_ns), turns_least, turns_most);
    counts[2] = between(budget_ns / (counts[0] * both_ns), 1, 1 + warm_up_most / counts[0]);
    PMPI_Bcast(counts, 3, MPI_INT, 0, MPI_COMM_WORLD);
    for (int i = 0; i < counts[2]; ++i) {
        mean_of(plain, counts[0]);
        mean_of(other, counts[0]);
    }
    for (int turn = 0; turn < counts[1]; ++turn) {
        struct side* const first = turn % 2 == 0 ? plain : other;
        struct times times[2]; /* The first calls after the other side's find its caches. */
        for (int k = 0; k < 2; ++k) {
            struct side* const side = k == 0 ? first : first == plain ? other : plain;
            mean_of(side, turn_calls_least / 2);
            times[side == other] = mean_of(side, counts[0]);
        }
        for (int k = 0; k < time_count; ++k) {
            values[k][turn] = times[0].us[k];
            values[time_count + k][turn] = times[1].us[k];
            values[2 * time_count + k][turn] = times[0].us[k] / times[1].us[k];
        }
    }
    for (int k = 0; rank == 0 && k < 3 * time_count; ++k) {
        printf(" %.3f", median(values[k], counts[1]));
    }
}

/* Returns 0 where the library has no such mode. */
static int make(struct side* side, const char* mode, const struct payload* payload, int is_plain) {
    *side = (struct side){
        .w = {.payload = *payload, .request = MPI_REQUEST_NULL, .receive = MPI_REQUEST_NULL},
        .barrier = is_plain ? PMPI_Barrier : MPI_Barrier,
        .release = is_plain ? release_plain : release};
    side->actions.state = &side->w;
    return (is_plain ? choose_plain : choose)(mode, &side->w, &side->actions);
}

/* Whether one more call has the right result. */
static int take_apart(struct side* side) {
    payload_clear_output(&side->w.payload);
    side->barrier(MPI_COMM_WORLD);
    timed(side);
    side->release(&side->w.request);
    return wrong == 0;
}

/* Prints the times of both sides, or of the one there is. */
static void print_times(struct side* side, struct side* plain, double budget_ns) {
    if (plain) {
        compare(plain, side, budget_ns);
    } else {
        const struct times times = measure(side, budget_ns);
        for (int k = 0; rank == 0 && k < time_count; ++k) {
            printf(" %.3f", times.us[k]);
        }
    }
    if (rank == 0) {
        putchar('\n');
        fflush(stdout);
    }
}

/* Returns whether the results are right on all ranks, the same on all of them. Both sides work on
   the same buffers: with some of its own each, the side whose pages came first took up to 10 %
   longer for large messages, even where both were the same library. */
static int run(const char* mode, const char* operation, const char* bytes, double budget_ns,
               int has_both) {
    struct payload payload = {.rank = rank};
    struct side side, plain;
    const struct session session = {.rank = rank, .ranks = size};
    struct command command = {.bytes = strtoul(bytes, NULL, 10)};
    if (operation_of(operation) >= op_pingpong) {
        fprintf(stderr, "loops: no operation %s\n", operation);
        return 0;
    }
    snprintf(command.operation, sizeof command.operation, "%s", operation);
    snprintf(command.mode, sizeof command.mode, "%s", mode);
    wrong = 0;
    if (payload_make(&payload, &session, &command) != 0) {
        fprintf(stderr, "loops: no memory for %s of %s bytes\n", operation, bytes);
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
    if (!make(&side, mode, &payload, 0) || (has_both && !make(&plain, mode, &payload, 1))) {
        fprintf(stderr, "loops: this library has no mode %s\n", mode);
        return 0;
    }
    if (rank == 0) {
        printf("%s %s %s", mode, operation, bytes);
    }
    print_times(&side, has_both ? &plain : NULL, budget_ns);
    int own = take_apart(&side);
    own = (!has_both || take_apart(&plain)) && own;
    payload_free(&payload);
    int all = 0;
    PMPI_Allreduce(&own, &all, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
    if (!own) {
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
    const int has_both = argc == 6 && strcmp(argv[5], "both") == 0;
    if (argc != 5 && !has_both) {
        fputs("usage: loops MILLISECONDS MODES OPERATIONS BYTES [both]\n", stderr);
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
                is_right = run(mode, operation, bytes, budget_ns, has_both);
            }
        }
    }
    MPI_Finalize();
    return is_right ? 0 : 1;
}

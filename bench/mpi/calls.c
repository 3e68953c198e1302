// SPDX-License-Identifier: Apache-2.0
// What rank 0 pays to have rank 1 do something, as programs do it with MPI; the ops of
// bench/calls/caller.hpp. One JSON object a line.
//
//     calls SECONDS
//
// "send and receive": both ranks know what comes. "calls by tags": rank 1 looks for any message,
// finds the function by its tag, receives, runs and answers, as one writes it who has several
// functions. "one-sided add": fetches a word and adds to it.
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

enum { tag_end, tag_echo, tag_work, functions };
enum { most_bytes = 64 };

static int rank;

static uint64_t work(uint64_t amount) {
    uint64_t state = amount | 1;
    for (uint64_t round = 0; round < amount; ++round) {
        state = state * 6364136223846793005u + 1442695040888963407u;
        __asm__ volatile("" : "+r"(state));
    }
    return state;
}

static double work_per_ns(void) {
    const uint64_t amount = 2000000;
    double best = 1e18;
    for (int turn = 0; turn < 5; ++turn) {
        const double begin = MPI_Wtime();
        work(amount);
        const double ns = (MPI_Wtime() - begin) * 1e9;
        best = ns < best ? ns : best;
    }
    return (double)amount / best;
}

// Rank 1's, by tags.
static int echo(char* bytes, int count) {
    (void)bytes;
    return count;
}
static int do_work(char* bytes, int count) {
    (void)count;
    uint64_t amount = 0;
    __builtin_memcpy(&amount, bytes, sizeof amount);
    work(amount);
    return 0;
}
static int (*const function_of_tag[functions])(char*, int) = {0, echo, do_work};

static void serve_tags(void) {
    for (;;) {
        MPI_Status status;
        char bytes[most_bytes];
        int count = 0;
        MPI_Probe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &status);
        MPI_Get_count(&status, MPI_CHAR, &count);
        MPI_Recv(bytes, count, MPI_CHAR, status.MPI_SOURCE, status.MPI_TAG, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
        if (status.MPI_TAG == tag_end) {
            return;
        }
        const int answered = function_of_tag[status.MPI_TAG](bytes, count);
        MPI_Send(bytes, answered, MPI_CHAR, status.MPI_SOURCE, status.MPI_TAG, MPI_COMM_WORLD);
    }
}

static void begin_tagged(int tag, char* bytes, int count) {
    MPI_Send(bytes, count, MPI_CHAR, 1, tag, MPI_COMM_WORLD);
}
static void end_tagged(int tag, char* bytes) {
    MPI_Recv(bytes, most_bytes, MPI_CHAR, 1, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

static double time_tags(int bytes_each, double seconds) {
    char bytes[most_bytes] = {0};
    int count = 0;
    const double begin = MPI_Wtime();
    do {
        for (int i = 0; i < 32; ++i, ++count) {
            begin_tagged(tag_echo, bytes, bytes_each);
            end_tagged(tag_echo, bytes);
        }
    } while (MPI_Wtime() - begin < seconds);
    return (MPI_Wtime() - begin) * 1e9 / count;
}

// A step in which both ranks do the work once.
static double time_step(uint64_t amount, double seconds) {
    char bytes[most_bytes] = {0};
    int count = 0;
    const double begin = MPI_Wtime();
    do {
        for (int i = 0; i < (amount < 10000 ? 32 : 1); ++i, ++count) {
            __builtin_memcpy(bytes, &amount, sizeof amount);
            begin_tagged(tag_work, bytes, (int)sizeof amount);
            work(amount);
            end_tagged(tag_work, bytes);
        }
    } while (MPI_Wtime() - begin < seconds);
    return (MPI_Wtime() - begin) * 1e9 / count;
}

// The length that is `ratio` times as long as what a step takes beyond it.
static double smallest_work(double ratio, double seconds) {
    const double rate = work_per_ns();
    double length = 0;
    for (int look = 0; look < 4; ++look) {
        const double over = time_step((uint64_t)(length * rate), seconds / 4) - length;
        length = ratio * (over > 0 ? over : 0);
        length = length < 1e7 ? length : 1e7; // Not even such work does.
    }
    return length;
}

// Both ranks: a word there and back, until rank 0 sends a negative one.
static double time_words(double seconds) {
    int64_t word = 0;
    int count = 0;
    const double begin = MPI_Wtime();
    while (word >= 0) {
        if (rank == 0) {
            word = count % 32 == 0 && MPI_Wtime() - begin >= seconds ? -1 : count;
            MPI_Send(&word, 1, MPI_INT64_T, 1, 0, MPI_COMM_WORLD);
            MPI_Recv(&word, 1, MPI_INT64_T, 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        } else {
            MPI_Recv(&word, 1, MPI_INT64_T, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            MPI_Send(&word, 1, MPI_INT64_T, 0, 0, MPI_COMM_WORLD);
        }
        ++count;
    }
    return (MPI_Wtime() - begin) * 1e9 / count;
}

// Rank 0 adds to a word of rank 1, which waits in the library: nothing of the program runs there.
static double time_adds(double seconds) {
    int64_t* own = NULL;
    MPI_Win window;
    MPI_Win_allocate(sizeof *own, sizeof *own, MPI_INFO_NULL, MPI_COMM_WORLD, &own, &window);
    *own = 0;
    MPI_Barrier(MPI_COMM_WORLD);
    double ns = 0;
    if (rank == 1) {
        MPI_Recv(NULL, 0, MPI_CHAR, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    } else {
        MPI_Win_lock_all(MPI_MODE_NOCHECK, window);
        const int64_t one = 1;
        int64_t was = 0;
        int count = 0;
        const double begin = MPI_Wtime();
        do {
            for (int i = 0; i < 32; ++i, ++count) {
                MPI_Fetch_and_op(&one, &was, MPI_INT64_T, 1, 0, MPI_SUM, window);
                MPI_Win_flush(1, window);
            }
        } while (MPI_Wtime() - begin < seconds);
        ns = (MPI_Wtime() - begin) * 1e9 / count;
        MPI_Win_unlock_all(window);
        MPI_Send(NULL, 0, MPI_CHAR, 1, 0, MPI_COMM_WORLD);
    }
    MPI_Win_free(&window);
    return ns;
}

static void tell(const char* op, const char* how, double ns) {
    if (rank == 0) {
        printf("{\"op\": \"%s\", \"how\": \"%s\", \"ns\": %.1f}\n", op, how, ns);
    }
}

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    int ranks = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    if (argc != 2 || ranks != 2) {
        fprintf(stderr, "calls: two ranks, and how many seconds in all\n");
        MPI_Abort(MPI_COMM_WORLD, 2);
    }
    const double seconds = atof(argv[1]) / 6;
    tell("empty", "send and receive", time_words(seconds));
    tell("empty", "one-sided add", time_adds(seconds));
    if (rank == 1) {
        serve_tags();
    } else {
        time_tags(0, seconds / 4); // Warms up.
        tell("empty", "calls by tags", time_tags(0, seconds));
        tell("bytes64", "calls by tags", time_tags(64, seconds));
        tell("work_50", "calls by tags", smallest_work(1, seconds));
        tell("work_90", "calls by tags", smallest_work(9, seconds));
        MPI_Send(NULL, 0, MPI_CHAR, 1, tag_end, MPI_COMM_WORLD);
    }
    MPI_Finalize();
    return 0;
}

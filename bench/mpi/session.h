// SPDX-License-Identifier: Apache-2.0
// What the ranks of every contestant share: commands from the driver, the clock, the samples.
//
// The driver makes a folder with a pipe `command.R` for each rank R, a pipe `reply` for all and a
// file `samples`. Between commands every rank sleeps in read(), so nobody disturbs the contestant
// whose turn it is. When the driver ends, however it ends, read() returns and the ranks end too.
//
//   command: OPERATION MODE BYTES ROOT WARM_UP ITERATIONS START_NS WINDOW_NS WORK_NS POLLS, or
//            `quit`
//   replies: `hello RANK PID CPUS` once, then `done RANK WORD`; WORD is ok, wrong, unsupported or
//            memory
//
// Iteration i of a command with a window begins at START_NS + (WARM_UP + 1 + i) * WINDOW_NS, or at
// once if that has passed; its begin and end are sample i of the rank. Without a window the
// iterations follow each other and the first sample is the whole stretch. Inputs are written anew
// before each iteration and results are read whole after it, in a stretch within its time. The root
// moves on from ROOT with every iteration, but for persistent operations, whose root is part of the
// request. Bytes are those of one contribution. With work, an iteration starts the operation,
// computes for WORK_NS with POLLS tests in between, and waits. python/corymb/peers/ranks/ has the
// same for Python.
#pragma once

#ifdef __cplusplus // It is C, which has no other cast.
#pragma GCC diagnostic ignored "-Wold-style-cast"
#endif
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <fcntl.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

enum { samples_max = 4096, word_max = 24, calibrations = 8, calibration_loops = 20000 };

struct command {
    char operation[word_max];
    char mode[word_max];
    size_t bytes;
    int root;
    int warm_up;
    int iterations;
    int64_t start_ns;
    int64_t window_ns;
    int64_t work_ns;
    int polls;
};

/// What is timed: `once`, or, with work, the others. `test` may be called when all is done. `renew`
/// comes before each iteration and writes the inputs anew, `is_right` after it and reads the whole
/// result; both may be null.
struct actions {
    void (*renew)(void* state, int iteration);
    int (*is_right)(void* state);
    void (*once)(void* state);
    void (*start)(void* state);
    void (*test)(void* state);
    void (*wait)(void* state);
    void* state;
};

struct session {
    int rank;
    int ranks;
    int yields; // More ranks than CPUs: give the CPU away while waiting for the start.
    FILE* commands;
    int replies;
    int64_t (*samples)[2];
    double loops_per_ns; // Of compute(); 0 until it is needed.
    double computed;     // Its result, so that no compiler leaves it out.
    int wrong;           // Iterations of the last command that ended with a wrong result.
};

static inline int64_t now_ns(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (int64_t)time.tv_sec * 1000000000 + time.tv_nsec;
}

static inline void wait_until(const struct session* session, int64_t moment) {
    while (now_ns() < moment) {
        if (session->yields) {
            sched_yield();
        }
    }
}

/// Keeps the core busy without memory: each multiplication needs the one before.
static inline void compute(struct session* session, int64_t loops) {
    double value = session->computed;
    for (int64_t i = 0; i < loops; ++i) {
        value = value * 0.999 + 0.5;
    }
    session->computed = value;
}

/// Times compute(); the fastest of a few tries counts, since others only slow it down.
static inline void calibrate(struct session* session) {
    for (int i = 0; i < calibrations; ++i) {
        const int64_t begin = now_ns();
        compute(session, calibration_loops);
        const double rate = (double)calibration_loops / (double)(now_ns() - begin + 1);
        session->loops_per_ns = rate > session->loops_per_ns ? rate : session->loops_per_ns;
    }
}

/// Opens the rank's ends and says hello. Returns 0, or -1 where the folder is not as it should be.
static inline int session_open(struct session* session, const char* folder, int rank, int ranks) {
    char path[4096];
    const size_t length = sizeof(int64_t[samples_max][2]);
    snprintf(path, sizeof path, "%s/command.%d", folder, rank);
    session->commands = fopen(path, "r");
    snprintf(path, sizeof path, "%s/reply", folder);
    session->replies = open(path, O_WRONLY | O_CLOEXEC);
    snprintf(path, sizeof path, "%s/samples", folder);
    const int file = open(path, O_RDWR | O_CLOEXEC);
    if (!session->commands || session->replies < 0 || file < 0) {
        return -1;
    }
    void* memory =
        mmap(0, length, PROT_READ | PROT_WRITE, MAP_SHARED, file, (off_t)(length * (size_t)rank));
    close(file);
    if (memory == MAP_FAILED) {
        return -1;
    }
    session->samples = (int64_t(*)[2])memory;
    session->rank = rank;
    session->ranks = ranks;
    session->loops_per_ns = 0;
    session->computed = 1;
    cpu_set_t allowed;
    CPU_ZERO(&allowed);
    sched_getaffinity(0, sizeof allowed, &allowed);
    session->yields = ranks > sysconf(_SC_NPROCESSORS_ONLN);
    const int said =
        dprintf(session->replies, "hello %d %d %d\n", rank, (int)getpid(), CPU_COUNT(&allowed));
    return said > 0 ? 0 : -1;
}

/// Waits for the next command. Returns 0 at the end.
static inline int session_next(struct session* session, struct command* command) {
    char line[256];
    long long bytes = 0;
    long long start = 0;
    long long window = 0;
    long long work = 0;
    if (!fgets(line, sizeof line, session->commands)) {
        return 0;
    }
    const int found = sscanf(line, "%23s %23s %lld %d %d %d %lld %lld %lld %d", command->operation,
                             command->mode, &bytes, &command->root, &command->warm_up,
                             &command->iterations, &start, &window, &work, &command->polls);
    if (found != 10 || bytes < 0 || command->iterations < 1 || work < 0 || command->polls < 0 ||
        (window > 0 && command->iterations > samples_max)) {
        return 0;
    }
    command->bytes = (size_t)bytes;
    command->start_ns = start;
    command->window_ns = window;
    command->work_ns = work;
    return 1;
}

static inline void session_reply(const struct session* session, const char* word) {
    if (dprintf(session->replies, "done %d %s\n", session->rank, word) < 0) {
        exit(1);
    }
}

/// One iteration: the operation, or the operation behind work.
static inline void session_step(struct session* session, const struct command* command,
                                const struct actions* actions) {
    if (command->work_ns == 0 || !actions->start) {
        actions->once(actions->state);
        return;
    }
    const int64_t loops = (int64_t)((double)command->work_ns * session->loops_per_ns);
    const int64_t slice = loops / (command->polls + 1);
    actions->start(actions->state);
    for (int i = 0; i < command->polls; ++i) {
        compute(session, slice);
        actions->test(actions->state);
    }
    compute(session, loops - slice * command->polls);
    actions->wait(actions->state);
}

static inline void session_renew(const struct actions* actions, int iteration) {
    if (actions->renew) {
        actions->renew(actions->state, iteration);
    }
}

static inline void session_check(struct session* session, const struct actions* actions) {
    session->wrong += actions->is_right && !actions->is_right(actions->state);
}

/// So many iterations, from the `first` of the command on.
static inline void session_stretch(struct session* session, const struct command* command,
                                   const struct actions* actions, int first, int iterations) {
    for (int i = first; i < first + iterations; ++i) {
        session_renew(actions, i);
        session_step(session, command, actions);
        session_check(session, actions);
    }
}

/// Does what the command says.
static inline void session_measure(struct session* session, const struct command* command,
                                   const struct actions* actions) {
    if (command->work_ns != 0 && session->loops_per_ns == 0) {
        calibrate(session);
    }
    wait_until(session, command->start_ns);
    session->wrong = 0;
    session_stretch(session, command, actions, 0, command->warm_up);
    if (command->window_ns == 0) {
        session->samples[0][0] = now_ns();
        session_stretch(session, command, actions, command->warm_up, command->iterations);
        session->samples[0][1] = now_ns();
        return;
    }
    const int64_t first = command->start_ns + (command->warm_up + 1) * command->window_ns;
    for (int i = 0; i < command->iterations; ++i) {
        session_renew(actions, command->warm_up + i);
        wait_until(session, first + i * command->window_ns);
        session->samples[i][0] = now_ns();
        session_step(session, command, actions);
        session->samples[i][1] = now_ns();
        session_check(session, actions);
    }
}

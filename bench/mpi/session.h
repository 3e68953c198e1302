// SPDX-License-Identifier: Apache-2.0
// What the ranks of every contestant share: commands from the driver, the clock, the samples.
//
// The driver makes a folder with a pipe `command.R` for each rank R, a pipe `reply` for all and a
// file `samples`. Between commands every rank sleeps in read(), so nobody disturbs the contestant
// whose turn it is. When the driver ends, however it ends, read() returns and the ranks end too.
//
//   command: OPERATION MODE BYTES ROOT WARM_UP ITERATIONS START_NS WINDOW_NS, or `quit`
//   replies: `hello RANK PID CPUS` once, then `done RANK WORD`; WORD is ok, wrong or unsupported
//
// Iteration i of a command with a window begins at START_NS + i * WINDOW_NS, or at once if that has
// passed; its begin and end are sample i of the rank. Without a window the iterations follow each
// other and the first sample is the whole stretch. Bytes are those of one contribution.
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

enum { samples_max = 4096, word_max = 24 };

struct command {
    char operation[word_max];
    char mode[word_max];
    size_t bytes;
    int root;
    int warm_up;
    int iterations;
    int64_t start_ns;
    int64_t window_ns;
};

struct session {
    int rank;
    int ranks;
    int yields; // More ranks than CPUs: give the CPU away while waiting for the start.
    FILE* commands;
    int replies;
    int64_t (*samples)[2];
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
    if (!fgets(line, sizeof line, session->commands)) {
        return 0;
    }
    const int found =
        sscanf(line, "%23s %23s %lld %d %d %d %lld %lld", command->operation, command->mode, &bytes,
               &command->root, &command->warm_up, &command->iterations, &start, &window);
    if (found != 8 || bytes < 0 || command->iterations < 1 ||
        (window > 0 && command->iterations > samples_max)) {
        return 0;
    }
    command->bytes = (size_t)bytes;
    command->start_ns = start;
    command->window_ns = window;
    return 1;
}

static inline void session_reply(const struct session* session, const char* word) {
    if (dprintf(session->replies, "done %d %s\n", session->rank, word) < 0) {
        exit(1);
    }
}

/// Runs `once(state)` as the command says.
static inline void session_measure(struct session* session, const struct command* command,
                                   void (*once)(void*), void* state) {
    wait_until(session, command->start_ns);
    for (int i = 0; i < command->warm_up; ++i) {
        once(state);
    }
    if (command->window_ns == 0) {
        session->samples[0][0] = now_ns();
        for (int i = 0; i < command->iterations; ++i) {
            once(state);
        }
        session->samples[0][1] = now_ns();
        return;
    }
    const int64_t first = command->start_ns + (command->warm_up + 1) * command->window_ns;
    for (int i = 0; i < command->iterations; ++i) {
        wait_until(session, first + i * command->window_ns);
        session->samples[i][0] = now_ns();
        once(state);
        session->samples[i][1] = now_ns();
    }
}

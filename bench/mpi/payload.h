// SPDX-License-Identifier: Apache-2.0
// The operations and their data, the same for every contestant: which buffers a rank has, what it
// contributes, and what every element of the result must be.
//
// Elements are double, operators sums. Element i of part k of rank r in iteration t is
// r + 1 + 1000 k + 1e7 (t mod 512) + i mod 8, so that a part in the wrong place, a shifted one or
// one of another iteration is noticed; all sums are exact. A line of eight elements repeats.
#pragma once

#include "session.h"

enum { payload_line = 8 };

enum operation {
    op_barrier,
    op_broadcast,
    op_reduce,
    op_allreduce,
    op_gather,
    op_scatter,
    op_allgather,
    op_alltoall,
    op_reduce_scatter,
    op_scan,
    op_exscan,
    op_pingpong, // Ranks 2k and 2k + 1 send to and fro; a last odd rank does nothing.
    op_copy,     // Each rank copies its input to its output, by itself: the bandwidth of memory.
    op_compute,  // The work of the overlap commands, alone.
    operation_count
};

static const char* const operation_names[operation_count] = {
    "barrier",  "broadcast",      "reduce", "allreduce", "gather",   "scatter", "allgather",
    "alltoall", "reduce_scatter", "scan",   "exscan",    "pingpong", "copy",    "compute"};

struct payload {
    enum operation operation;
    int rank;
    int ranks;
    int root;
    int first_root; // Of iteration 0.
    int root_stays; // Else it moves on with every iteration.
    int iteration;
    size_t count; // Elements of one part.
    size_t input_parts;
    size_t output_parts;
    double* input;
    double* output; // Broadcasts work here alone.
};

/// operation_count if there is no such.
static inline enum operation operation_of(const char* name) {
    int at = 0;
    while (at < operation_count && strcmp(operation_names[at], name) != 0) {
        ++at;
    }
    return (enum operation)at;
}

static inline int pingpong_partner(const struct payload* p) {
    const int partner = p->rank ^ 1;
    return partner < p->ranks ? partner : -1;
}

/// What does not depend on the rank.
static inline double payload_common(const struct payload* p, size_t part, size_t at) {
    return 1000.0 * (double)part + 1e7 * (p->iteration % 512) + (double)(at % payload_line);
}

static inline double payload_value(const struct payload* p, int rank, size_t part, size_t at) {
    return rank + 1 + payload_common(p, part, at);
}

/// The sum of that over the first `ranks` ranks.
static inline double payload_sum(const struct payload* p, int ranks, size_t part, size_t at) {
    const double of_ranks = ranks * (ranks + 1) / 2.0;
    return of_ranks + ranks * payload_common(p, part, at);
}

static inline size_t input_parts_of(const struct payload* p) {
    switch (p->operation) {
    case op_alltoall:
    case op_reduce_scatter: return (size_t)p->ranks;
    case op_scatter: return p->rank == p->root ? (size_t)p->ranks : 0;
    case op_barrier:
    case op_broadcast:
    case op_compute: return 0;
    default: return 1;
    }
}

static inline size_t output_parts_of(const struct payload* p) {
    switch (p->operation) {
    case op_allgather:
    case op_alltoall: return (size_t)p->ranks;
    case op_gather: return p->rank == p->root ? (size_t)p->ranks : 0;
    case op_reduce: return p->rank == p->root ? 1 : 0;
    case op_barrier:
    case op_compute: return 0;
    default: return 1;
    }
}

/// What element `at` of part `part` of the output must be; -1 where nothing is written.
static inline double payload_expected(const struct payload* p, size_t part, size_t at) {
    const size_t own = (size_t)p->rank;
    switch (p->operation) {
    case op_broadcast: return payload_value(p, p->root, 0, at);
    case op_reduce:
    case op_allreduce: return payload_sum(p, p->ranks, 0, at);
    case op_gather:
    case op_allgather: return payload_value(p, (int)part, 0, at);
    case op_scatter: return payload_value(p, p->root, own, at);
    case op_alltoall: return payload_value(p, (int)part, own, at);
    case op_reduce_scatter: return payload_sum(p, p->ranks, own, at);
    case op_scan: return payload_sum(p, p->rank + 1, 0, at);
    case op_exscan: return payload_sum(p, p->rank, 0, at);
    case op_copy: return payload_value(p, p->rank, 0, at);
    case op_pingpong: {
        const int partner = pingpong_partner(p);
        return partner < 0 ? -1 : payload_value(p, partner, 0, at);
    }
    default: return -1;
    }
}

static inline double* payload_room(size_t elements) {
    void* memory = 0;
    return posix_memalign(&memory, 4096, (elements + 1) * sizeof(double)) == 0 ? (double*)memory
                                                                               : 0;
}

static inline void payload_free(struct payload* p) {
    free(p->input);
    free(p->output);
    p->input = 0;
    p->output = 0;
}

/// Whether this rank's buffer for results holds what it contributes, as the root's of a broadcast.
static inline int payload_is_in_place(const struct payload* p) {
    return p->operation == op_broadcast && p->rank == p->root;
}

/// Writes `count` elements, a line after the other. It may be part of what is timed, and the copies
/// of a library cost the same whichever compiler has built the contestant.
static inline void payload_write(double* to, size_t count, const double* line) {
    size_t at = 0;
    for (; at + payload_line <= count; at += payload_line) {
        memcpy(to + at, line, payload_line * sizeof(double));
    }
    memcpy(to + at, line, (count - at) * sizeof(double));
}

/// Whether `count` elements are lines of this kind: the first is, and each is the one before it.
static inline int payload_holds(const double* found, size_t count, const double* line) {
    const size_t line_count = payload_line, head = count < line_count ? count : line_count;
    return memcmp(found, line, head * sizeof(double)) == 0 &&
           memcmp(found, found + head, (count - head) * sizeof(double)) == 0;
}

/// Before an iteration: moves the root on and writes what this rank contributes.
static inline void payload_renew(struct payload* p, int iteration) {
    double line[payload_line];
    const int is_broadcast = p->operation == op_broadcast;
    p->iteration = iteration;
    p->root = p->root_stays ? p->first_root : (p->first_root + iteration) % p->ranks;
    p->input_parts = input_parts_of(p);
    p->output_parts = output_parts_of(p);
    const size_t parts = is_broadcast ? (size_t)payload_is_in_place(p) : p->input_parts;
    double* const to = is_broadcast ? p->output : p->input;
    for (size_t part = 0; part < parts; ++part) {
        for (size_t at = 0; at < payload_line; ++at) {
            line[at] = payload_value(p, p->rank, part, at);
        }
        payload_write(to + part * p->count, p->count, line);
    }
}

/// Forgets earlier results; what the root of a broadcast has stays.
static inline void payload_clear_output(const struct payload* p) {
    for (size_t at = 0; !payload_is_in_place(p) && at < p->output_parts * p->count; ++at) {
        p->output[at] = -1;
    }
}

/// The most parts that a rank has, whoever is the root.
static inline size_t payload_parts_most(struct payload* p,
                                        size_t (*parts_of)(const struct payload*)) {
    size_t most = 0;
    for (int other = 0; other < 2 && other < p->ranks; ++other) {
        p->root = (p->rank + other) % p->ranks;
        const size_t parts = parts_of(p);
        most = parts > most ? parts : most;
    }
    return most;
}

/// The rank's buffers, filled for iteration 0. Returns 0, or -1 if there is no memory.
static inline int payload_make(struct payload* p, const struct session* session,
                               const struct command* command) {
    p->operation = operation_of(command->operation);
    p->rank = session->rank;
    p->ranks = session->ranks;
    p->first_root = command->root;
    p->root_stays = strcmp(command->mode, "persistent") == 0;
    p->count = command->bytes / sizeof(double);
    p->input = payload_room(payload_parts_most(p, input_parts_of) * p->count);
    p->output = payload_room(payload_parts_most(p, output_parts_of) * p->count);
    if (!p->input || !p->output) {
        payload_free(p);
        return -1;
    }
    payload_renew(p, 0);
    payload_clear_output(p);
    return 0;
}

/// Reads the whole result: whether every element is what it must be. MPI leaves that of rank 0 of
/// an exscan open.
static inline int payload_is_right(const struct payload* p) {
    double line[payload_line];
    if (p->operation == op_exscan && p->rank == 0) {
        return 1;
    }
    for (size_t part = 0; part < p->output_parts; ++part) {
        for (size_t at = 0; at < payload_line; ++at) {
            line[at] = payload_expected(p, part, at);
        }
        if (!payload_holds(p->output + part * p->count, p->count, line)) {
            return 0;
        }
    }
    return 1;
}

struct alone {
    struct session* session;
    const struct command* command;
    const struct payload* payload;
};

static inline void copy_alone(void* state) {
    const struct payload* p = ((const struct alone*)state)->payload;
    memcpy(p->output, p->input, p->count * sizeof(double));
}

static inline void compute_alone(void* state) {
    const struct alone* alone = (const struct alone*)state;
    const double loops = (double)alone->command->work_ns * alone->session->loops_per_ns;
    compute(alone->session, (int64_t)loops);
}

/// Does what needs no peer, `copy` and `compute`. Returns 0 for the other operations.
static inline int measure_alone(struct session* session, const struct command* command,
                                const struct payload* payload) {
    struct alone alone = {session, command, payload};
    struct actions actions = {0, 0, copy_alone, 0, 0, 0, &alone};
    if (payload->operation == op_compute) {
        actions.once = compute_alone;
    } else if (payload->operation != op_copy) {
        return 0;
    }
    session_measure(session, command, &actions);
    return 1;
}

// SPDX-License-Identifier: Apache-2.0
// The operations and their data, the same for every contestant: which buffers a rank has, what it
// contributes, and what every element of the result must be.
//
// Elements are double, operators sums. Element i of part k of rank r is r + 1 + 1000 k + i mod 8,
// so that a part in the wrong place or a shifted one is noticed; all sums are exact.
#pragma once

#include "session.h"

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

static inline double payload_value(int rank, size_t part, size_t at) {
    return rank + 1 + 1000.0 * (double)part + (double)(at % 8);
}

/// The sum of that over the first `ranks` ranks.
static inline double payload_sum(int ranks, size_t part, size_t at) {
    const double of_ranks = ranks * (ranks + 1) / 2.0;
    return of_ranks + ranks * (1000.0 * (double)part + (double)(at % 8));
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
    case op_broadcast: return payload_value(p->root, 0, at);
    case op_reduce:
    case op_allreduce: return payload_sum(p->ranks, 0, at);
    case op_gather:
    case op_allgather: return payload_value((int)part, 0, at);
    case op_scatter: return payload_value(p->root, own, at);
    case op_alltoall: return payload_value((int)part, own, at);
    case op_reduce_scatter: return payload_sum(p->ranks, own, at);
    case op_scan: return payload_sum(p->rank + 1, 0, at);
    case op_exscan: return payload_sum(p->rank, 0, at);
    case op_copy: return payload_value(p->rank, 0, at);
    case op_pingpong: {
        const int partner = pingpong_partner(p);
        return partner < 0 ? -1 : payload_value(partner, 0, at);
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

/// As before the first call: only the root of a broadcast has what it sends.
static inline void payload_clear_output(const struct payload* p) {
    const int has_it = p->operation == op_broadcast && p->rank == p->root;
    for (size_t at = 0; at < p->output_parts * p->count; ++at) {
        p->output[at] = has_it ? payload_value(p->rank, 0, at) : -1;
    }
}

/// The rank's buffers, filled. Returns 0, or -1 if there is no memory.
static inline int payload_make(struct payload* p, const struct session* session,
                               const struct command* command) {
    p->operation = operation_of(command->operation);
    p->rank = session->rank;
    p->ranks = session->ranks;
    p->root = command->root;
    p->count = command->bytes / sizeof(double);
    p->input_parts = input_parts_of(p);
    p->output_parts = output_parts_of(p);
    p->input = payload_room(p->input_parts * p->count);
    p->output = payload_room(p->output_parts * p->count);
    if (!p->input || !p->output) {
        payload_free(p);
        return -1;
    }
    for (size_t part = 0; part < p->input_parts; ++part) {
        for (size_t at = 0; at < p->count; ++at) {
            p->input[part * p->count + at] = payload_value(p->rank, part, at);
        }
    }
    payload_clear_output(p);
    return 0;
}

/// Whether every element of the result is what it must be. MPI leaves that of rank 0 of an exscan
/// open.
static inline int payload_is_right(const struct payload* p) {
    if (p->operation == op_exscan && p->rank == 0) {
        return 1;
    }
    for (size_t part = 0; part < p->output_parts; ++part) {
        for (size_t at = 0; at < p->count; ++at) {
            if (p->output[part * p->count + at] != payload_expected(p, part, at)) {
                return 0;
            }
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
    struct actions actions = {copy_alone, 0, 0, 0, &alone};
    if (payload->operation == op_compute) {
        actions.once = compute_alone;
    } else if (payload->operation != op_copy) {
        return 0;
    }
    session_measure(session, command, &actions);
    return 1;
}

/* SPDX-License-Identifier: Apache-2.0
   Every operation in every mode as MPI has it. */
#pragma once

#include "payload.h"

#include <mpi.h>

struct work {
    struct payload payload;
    MPI_Request request; /* Of the operation, or of the send of a ping-pong. */
    MPI_Request receive; /* Of a ping-pong. */
};

static inline void blocking(void* state) {
    struct work* w = state;
    const struct payload* p = &w->payload;
    const MPI_Comm all = MPI_COMM_WORLD;
    const MPI_Datatype d = MPI_DOUBLE;
    const int n = (int)p->count;
    switch (p->operation) {
    case op_barrier: MPI_Barrier(all); break;
    case op_broadcast: MPI_Bcast(p->output, n, d, p->root, all); break;
    case op_reduce: MPI_Reduce(p->input, p->output, n, d, MPI_SUM, p->root, all); break;
    case op_allreduce: MPI_Allreduce(p->input, p->output, n, d, MPI_SUM, all); break;
    case op_gather: MPI_Gather(p->input, n, d, p->output, n, d, p->root, all); break;
    case op_scatter: MPI_Scatter(p->input, n, d, p->output, n, d, p->root, all); break;
    case op_allgather: MPI_Allgather(p->input, n, d, p->output, n, d, all); break;
    case op_alltoall: MPI_Alltoall(p->input, n, d, p->output, n, d, all); break;
    case op_reduce_scatter:
        MPI_Reduce_scatter_block(p->input, p->output, n, d, MPI_SUM, all);
        break;
    case op_scan: MPI_Scan(p->input, p->output, n, d, MPI_SUM, all); break;
    default: MPI_Exscan(p->input, p->output, n, d, MPI_SUM, all); break;
    }
}

static inline void start_nonblocking(void* state) {
    struct work* w = state;
    const struct payload* p = &w->payload;
    const MPI_Comm all = MPI_COMM_WORLD;
    const MPI_Datatype d = MPI_DOUBLE;
    const int n = (int)p->count;
    MPI_Request* r = &w->request;
    switch (p->operation) {
    case op_barrier: MPI_Ibarrier(all, r); break;
    case op_broadcast: MPI_Ibcast(p->output, n, d, p->root, all, r); break;
    case op_reduce: MPI_Ireduce(p->input, p->output, n, d, MPI_SUM, p->root, all, r); break;
    case op_allreduce: MPI_Iallreduce(p->input, p->output, n, d, MPI_SUM, all, r); break;
    case op_gather: MPI_Igather(p->input, n, d, p->output, n, d, p->root, all, r); break;
    case op_scatter: MPI_Iscatter(p->input, n, d, p->output, n, d, p->root, all, r); break;
    case op_allgather: MPI_Iallgather(p->input, n, d, p->output, n, d, all, r); break;
    case op_alltoall: MPI_Ialltoall(p->input, n, d, p->output, n, d, all, r); break;
    case op_reduce_scatter:
        MPI_Ireduce_scatter_block(p->input, p->output, n, d, MPI_SUM, all, r);
        break;
    case op_scan: MPI_Iscan(p->input, p->output, n, d, MPI_SUM, all, r); break;
    default: MPI_Iexscan(p->input, p->output, n, d, MPI_SUM, all, r); break;
    }
}

static inline void renew_inputs(void* state, int iteration) {
    payload_renew(&((struct work*)state)->payload, iteration);
}

static inline int has_right_result(void* state) {
    return payload_is_right(&((struct work*)state)->payload);
}

/* Once there is nothing to wait for, both of these return at once. */
static inline void wait_for(void* state) {
    MPI_Wait(&((struct work*)state)->request, MPI_STATUS_IGNORE);
}

static inline void test_one(void* state) {
    int done = 0;
    MPI_Test(&((struct work*)state)->request, &done, MPI_STATUS_IGNORE);
}

static inline void nonblocking(void* state) {
    start_nonblocking(state);
    wait_for(state);
}

/* Libraries that report MPI 3.1 export these all the same (Open MPI 5); older ones do not. */
#ifdef CORYMB_PEER_PERSISTENT
static inline void prepare(struct work* w) {
    const struct payload* p = &w->payload;
    const MPI_Comm all = MPI_COMM_WORLD;
    const MPI_Datatype d = MPI_DOUBLE;
    const MPI_Info i = MPI_INFO_NULL;
    const int n = (int)p->count;
    MPI_Request* r = &w->request;
    switch (p->operation) {
    case op_barrier: MPI_Barrier_init(all, i, r); break;
    case op_broadcast: MPI_Bcast_init(p->output, n, d, p->root, all, i, r); break;
    case op_reduce: MPI_Reduce_init(p->input, p->output, n, d, MPI_SUM, p->root, all, i, r); break;
    case op_allreduce: MPI_Allreduce_init(p->input, p->output, n, d, MPI_SUM, all, i, r); break;
    case op_gather: MPI_Gather_init(p->input, n, d, p->output, n, d, p->root, all, i, r); break;
    case op_scatter: MPI_Scatter_init(p->input, n, d, p->output, n, d, p->root, all, i, r); break;
    case op_allgather: MPI_Allgather_init(p->input, n, d, p->output, n, d, all, i, r); break;
    case op_alltoall: MPI_Alltoall_init(p->input, n, d, p->output, n, d, all, i, r); break;
    case op_reduce_scatter:
        MPI_Reduce_scatter_block_init(p->input, p->output, n, d, MPI_SUM, all, i, r);
        break;
    case op_scan: MPI_Scan_init(p->input, p->output, n, d, MPI_SUM, all, i, r); break;
    default: MPI_Exscan_init(p->input, p->output, n, d, MPI_SUM, all, i, r); break;
    }
}

static inline void start_persistent(void* state) {
    MPI_Start(&((struct work*)state)->request);
}

static inline void persistent(void* state) {
    start_persistent(state);
    wait_for(state);
}

static inline void prepare_pingpong(struct work* w) {
    const struct payload* p = &w->payload;
    const int partner = pingpong_partner(p);
    const int n = (int)p->count;
    MPI_Send_init(p->input, n, MPI_DOUBLE, partner, 0, MPI_COMM_WORLD, &w->request);
    MPI_Recv_init(p->output, n, MPI_DOUBLE, partner, 0, MPI_COMM_WORLD, &w->receive);
}

static inline void start_and_wait(MPI_Request* request) {
    MPI_Start(request);
    MPI_Wait(request, MPI_STATUS_IGNORE);
}

static inline void persistent_pingpong(void* state) {
    struct work* w = state;
    const int answers = w->payload.rank & 1;
    start_and_wait(answers ? &w->receive : &w->request);
    start_and_wait(answers ? &w->request : &w->receive);
}
#endif

static inline void blocking_pingpong(void* state) {
    const struct payload* p = &((struct work*)state)->payload;
    const MPI_Comm all = MPI_COMM_WORLD;
    const int partner = pingpong_partner(p);
    const int n = (int)p->count;
    if (p->rank & 1) {
        MPI_Recv(p->output, n, MPI_DOUBLE, partner, 0, all, MPI_STATUS_IGNORE);
        MPI_Send(p->input, n, MPI_DOUBLE, partner, 0, all);
    } else {
        MPI_Send(p->input, n, MPI_DOUBLE, partner, 0, all);
        MPI_Recv(p->output, n, MPI_DOUBLE, partner, 0, all, MPI_STATUS_IGNORE);
    }
}

static inline void send_request(struct work* w) {
    const struct payload* p = &w->payload;
    MPI_Isend(p->input, (int)p->count, MPI_DOUBLE, pingpong_partner(p), 0, MPI_COMM_WORLD,
              &w->request);
    MPI_Wait(&w->request, MPI_STATUS_IGNORE);
}

static inline void receive_request(struct work* w) {
    const struct payload* p = &w->payload;
    MPI_Irecv(p->output, (int)p->count, MPI_DOUBLE, pingpong_partner(p), 0, MPI_COMM_WORLD,
              &w->receive);
    MPI_Wait(&w->receive, MPI_STATUS_IGNORE);
}

static inline void nonblocking_pingpong(void* state) {
    struct work* w = state;
    if (w->payload.rank & 1) {
        receive_request(w);
        send_request(w);
    } else {
        send_request(w);
        receive_request(w);
    }
}

/* For a rank without a partner. */
static inline void nothing(void* state) {
    (void)state;
}

/* A ping-pong has no start and wait of its own. */
static inline int choose_pingpong(const char* mode, struct work* w, struct actions* actions) {
    if (pingpong_partner(&w->payload) < 0) {
        actions->once = nothing;
    } else if (strcmp(mode, "blocking") == 0) {
        actions->once = blocking_pingpong;
    } else if (strcmp(mode, "nonblocking") == 0) {
        actions->once = nonblocking_pingpong;
#ifdef CORYMB_PEER_PERSISTENT
    } else if (strcmp(mode, "persistent") == 0) {
        prepare_pingpong(w);
        actions->once = persistent_pingpong;
#endif
    } else {
        return 0;
    }
    return 1;
}

/* What the mode does with this payload, requests made where it is persistent. Returns 0 where this
   library has no such mode. */
static inline int choose(const char* mode, struct work* w, struct actions* actions) {
    actions->renew = renew_inputs;
    actions->is_right = has_right_result;
    if (w->payload.operation == op_pingpong) {
        return choose_pingpong(mode, w, actions);
    }
    if (strcmp(mode, "blocking") == 0) {
        actions->once = blocking;
        return 1;
    }
    actions->test = test_one;
    actions->wait = wait_for;
    if (strcmp(mode, "nonblocking") == 0) {
        actions->once = nonblocking;
        actions->start = start_nonblocking;
        return 1;
    }
#ifdef CORYMB_PEER_PERSISTENT
    if (strcmp(mode, "persistent") == 0) {
        prepare(w);
        actions->once = persistent;
        actions->start = start_persistent;
        return 1;
    }
#endif
    return 0;
}

static inline void release(MPI_Request* request) {
    if (*request != MPI_REQUEST_NULL) {
        MPI_Request_free(request);
    }
}

// SPDX-License-Identifier: Apache-2.0
// A program in plain C11: every function of <corymb.h> is called from C at least once, against the
// shared library. Results in depth are compared in the tests beside it.
#include "plain.h"

enum { size = 2, count = 3 };

static void check_all(const double* data, double expected, int line) {
    for (int i = 0; i < count; ++i) {
        check(data[i] == expected, "a result", __FILE__, line);
    }
}
#define ALL(data, expected) check_all(data, expected, __LINE__)

static void fill(double* data, size_t elements, double value) {
    for (size_t i = 0; i < elements; ++i) {
        data[i] = value;
    }
}

static void larger(const void* left, const void* right, void* out, size_t elements,
                   corymb_type type, void* context) {
    const double* a = left;
    const double* b = right;
    double* result = out;
    CHECK(type == CORYMB_DOUBLE && context == NULL);
    for (size_t i = 0; i < elements; ++i) {
        result[i] = a[i] > b[i] ? a[i] : b[i];
    }
}

static void blocking(corymb_team* team) {
    const int rank = corymb_team_rank(team);
    const double own = rank + 1;
    double in[size * count], out[size * count];
    fill(in, size * count, own);
    OK(corymb_barrier(team));
    OK(corymb_broadcast(in, count, CORYMB_DOUBLE, 1, team));
    ALL(in, 2);
    fill(in, size * count, own);
    OK(corymb_reduce(in, out, count, CORYMB_DOUBLE, CORYMB_SUM, 0, team));
    OK(corymb_allreduce(in, out, count, CORYMB_DOUBLE, CORYMB_PROD, team));
    ALL(out, 2);
    OK(corymb_gather(in, out, count, CORYMB_DOUBLE, 1, team));
    OK(corymb_scatter(in, out, count, CORYMB_DOUBLE, 1, team));
    ALL(out, 2);
    OK(corymb_allgather(in, out, count, CORYMB_DOUBLE, team));
    ALL(out, 1);
    ALL(out + count, 2);
    OK(corymb_alltoall(in, out, count, CORYMB_DOUBLE, team));
    ALL(out + count, 2);
    OK(corymb_reduce_scatter(in, out, count, CORYMB_DOUBLE, CORYMB_MAX, team));
    ALL(out, 2);
    OK(corymb_scan(in, out, count, CORYMB_DOUBLE, CORYMB_SUM, team));
    ALL(out, rank == 0 ? 1 : 3);
    OK(corymb_exscan(CORYMB_IN_PLACE, in, count, CORYMB_DOUBLE, CORYMB_SUM, team));
    ALL(in, 1);
    if (rank == 0) {
        OK(corymb_send(in, count, CORYMB_DOUBLE, 1, team));
    } else {
        OK(corymb_recv(out, count, CORYMB_DOUBLE, 0, team));
        ALL(out, 1);
    }
    OK(corymb_sendrecv(in, count, CORYMB_DOUBLE, 1 - rank, out, count * sizeof(double), CORYMB_BYTE,
                       1 - rank, team));
    ALL(out, 1);
}

static void nonblocking(corymb_team* team) {
    const int rank = corymb_team_rank(team);
    double in[size * count], out[13][size * count];
    corymb_request* requests[13];
    corymb_request** next = requests;
    double(*to)[size * count] = out;
    fill(in, size * count, rank + 1);
    fill(out[0], count, 5);
    OK(corymb_ibarrier(team, next++));
    OK(corymb_ibroadcast(*to++, count, CORYMB_DOUBLE, 0, team, next++));
    OK(corymb_ireduce(in, *to++, count, CORYMB_DOUBLE, CORYMB_SUM, 0, team, next++));
    OK(corymb_iallreduce(in, *to++, count, CORYMB_DOUBLE, CORYMB_SUM, team, next++));
    OK(corymb_igather(in, *to++, count, CORYMB_DOUBLE, 0, team, next++));
    OK(corymb_iscatter(in, *to++, count, CORYMB_DOUBLE, 0, team, next++));
    OK(corymb_iallgather(in, *to++, count, CORYMB_DOUBLE, team, next++));
    OK(corymb_ialltoall(in, *to++, count, CORYMB_DOUBLE, team, next++));
    OK(corymb_ireduce_scatter(in, *to++, count, CORYMB_DOUBLE, CORYMB_SUM, team, next++));
    OK(corymb_iscan(in, *to++, count, CORYMB_DOUBLE, CORYMB_SUM, team, next++));
    OK(corymb_iexscan(in, *to++, count, CORYMB_DOUBLE, CORYMB_SUM, team, next++));
    OK(corymb_irecv(*to, count, CORYMB_DOUBLE, 1 - rank, team, next++));
    OK(corymb_isend(in, count, CORYMB_DOUBLE, 1 - rank, team, next++));
    CHECK(next == requests + 13);
    OK(corymb_progress(team, NULL));
    size_t index = 0;
    OK(corymb_wait_any(requests, 13, &index));
    CHECK(index < 13 && requests[index] == NULL);
    OK(corymb_wait_all(requests, 13));
    ALL(out[2], 3);
    ALL(out[10], 2 - rank);
    OK(corymb_complete_all(team));
}

static void persistent(corymb_team* team) {
    const int rank = corymb_team_rank(team);
    double in[size * count], out[size * count], data[size * count];
    corymb_request* requests[13];
    fill(in, size * count, rank + 1);
    fill(data, size * count, 0);
    OK(corymb_barrier_init(team, &requests[0]));
    OK(corymb_broadcast_init(data, count, CORYMB_DOUBLE, 0, team, &requests[1]));
    OK(corymb_reduce_init(in, out, count, CORYMB_DOUBLE, CORYMB_SUM, 0, team, &requests[2]));
    OK(corymb_allreduce_init(in, out, count, CORYMB_DOUBLE, CORYMB_SUM, team, &requests[3]));
    OK(corymb_gather_init(in, out, count, CORYMB_DOUBLE, 0, team, &requests[4]));
    OK(corymb_scatter_init(in, out, count, CORYMB_DOUBLE, 0, team, &requests[5]));
    OK(corymb_allgather_init(in, out, count, CORYMB_DOUBLE, team, &requests[6]));
    OK(corymb_alltoall_init(in, out, count, CORYMB_DOUBLE, team, &requests[7]));
    OK(corymb_reduce_scatter_init(in, out, count, CORYMB_DOUBLE, CORYMB_SUM, team, &requests[8]));
    OK(corymb_scan_init(in, out, count, CORYMB_DOUBLE, CORYMB_SUM, team, &requests[9]));
    OK(corymb_exscan_init(in, out, count, CORYMB_DOUBLE, CORYMB_SUM, team, &requests[10]));
    OK(corymb_recv_init(data, count, CORYMB_DOUBLE, 1 - rank, team, &requests[11]));
    OK(corymb_send_init(in, count, CORYMB_DOUBLE, 1 - rank, team, &requests[12]));
    for (int i = 0; i <= 10; ++i) {
        OK(corymb_start(requests[i]));
        OK(corymb_wait(&requests[i]));
    }
    OK(corymb_start_all(requests + 11, 2));
    int done = 0;
    while (!done) {
        OK(corymb_test(&requests[11], &done));
    }
    OK(corymb_wait(&requests[12]));
    ALL(data, 2 - rank);
    for (int i = 0; i < 13; ++i) {
        OK(corymb_request_free(&requests[i]));
    }
}

static void vector(corymb_team* team) {
    const int rank = corymb_team_rank(team);
    const size_t counts[size] = {1, 2}, displacements[size] = {2, 0};
    const size_t own = counts[rank];
    double in[size * count], out[size * count];
    corymb_request* request = NULL;
    fill(in, size * count, rank + 1);
    OK(corymb_allgatherv(in, own, out, counts, displacements, CORYMB_DOUBLE, team));
    CHECK(out[0] == 2 && out[1] == 2 && out[2] == 1);
    OK(corymb_gatherv(in, own, out, counts, NULL, CORYMB_DOUBLE, 1, team));
    OK(corymb_scatterv(in, counts, NULL, out, own, CORYMB_DOUBLE, 1, team));
    CHECK(out[0] == 2);
    OK(corymb_reduce_scatterv(in, out, counts, CORYMB_DOUBLE, CORYMB_SUM, team));
    CHECK(out[own - 1] == 3);
    const size_t same[size] = {2, 2};
    OK(corymb_alltoallv(in, same, NULL, out, same, NULL, CORYMB_DOUBLE, team));
    CHECK(out[1] == 1 && out[3] == 2);

#define COMPLETE(call)                                                                             \
    OK(call);                                                                                      \
    OK(corymb_wait(&request))
    COMPLETE(corymb_iallgatherv(in, own, out, counts, NULL, CORYMB_DOUBLE, team, &request));
    COMPLETE(corymb_igatherv(in, own, out, counts, NULL, CORYMB_DOUBLE, 0, team, &request));
    COMPLETE(corymb_iscatterv(in, counts, NULL, out, own, CORYMB_DOUBLE, 0, team, &request));
    COMPLETE(corymb_ireduce_scatterv(in, out, counts, CORYMB_DOUBLE, CORYMB_SUM, team, &request));
    COMPLETE(corymb_ialltoallv(in, same, NULL, out, same, NULL, CORYMB_DOUBLE, team, &request));
    CHECK(request == NULL);
#define RUN_ONCE(call)                                                                             \
    OK(call);                                                                                      \
    OK(corymb_start(request));                                                                     \
    OK(corymb_wait(&request));                                                                     \
    OK(corymb_request_free(&request))
    RUN_ONCE(corymb_allgatherv_init(in, own, out, counts, NULL, CORYMB_DOUBLE, team, &request));
    RUN_ONCE(corymb_gatherv_init(in, own, out, counts, NULL, CORYMB_DOUBLE, 0, team, &request));
    RUN_ONCE(corymb_scatterv_init(in, counts, NULL, out, own, CORYMB_DOUBLE, 0, team, &request));
    RUN_ONCE(
        corymb_reduce_scatterv_init(in, out, counts, CORYMB_DOUBLE, CORYMB_SUM, team, &request));
    RUN_ONCE(corymb_alltoallv_init(in, same, NULL, out, same, NULL, CORYMB_DOUBLE, team, &request));
    CHECK(out[1] == 1 && out[3] == 2);
}

static corymb_status life(corymb_team* team, void* arg) {
    CHECK(corymb_team_size(team) == size && *(int*)arg == 42);
    blocking(team);
    nonblocking(team);
    persistent(team);
    vector(team);

    corymb_op op = CORYMB_NO_OP;
    double value = corymb_team_rank(team);
    OK(corymb_op_create(larger, NULL, 1, &op));
    CHECK(corymb_is_defined(CORYMB_DOUBLE, op));
    OK(corymb_allreduce(CORYMB_IN_PLACE, &value, 1, CORYMB_DOUBLE, op, team));
    CHECK(value == size - 1);
    OK(corymb_op_free(&op));

    corymb_team* part = NULL;
    OK(corymb_team_split(team, 0, 0, &part));
    OK(corymb_barrier(part));
    OK(corymb_team_free(&part));

    size_t bytes = 0;
    char* text = NULL;
    OK(corymb_team_memory(team, &bytes));
    CHECK(bytes > 0);
    OK(corymb_team_notes(team, &text));
    corymb_free(text);
    OK(corymb_plan_json(team, CORYMB_BARRIER, 0, 0, &text));
    CHECK(strstr(text, "barrier") != NULL);
    corymb_free(text);

    CHECK(corymb_broadcast(NULL, 1, CORYMB_INT, 0, team) == CORYMB_INVALID_ARGUMENT);
    CHECK(strlen(corymb_last_error()) > 0 && corymb_last_error_ranks(NULL, 0) == 0);
    OK(corymb_barrier(team));
    if (corymb_team_rank(team) == 0) {
        OK(corymb_team_abandon(team, "enough"));
    }
    CHECK(corymb_barrier(team) == CORYMB_TEAM_BROKEN);
    OK(corymb_team_shrink(team, &part));
    OK(corymb_team_free(&part));
    return CORYMB_OK;
}

static void processes(void) {
    corymb_attach_options options;
    corymb_process_team* group = NULL;
    corymb_team* team = NULL;
    int descriptor = -1, first = -1, here = 0;
    size_t absent = 0;
    corymb_attach_options_init(&options);
    OK(corymb_make_team_descriptor(1, &descriptor));
    OK(corymb_absent_ranks(descriptor, NULL, 0, &absent));
    CHECK(absent == 1);
    options.descriptor = descriptor;
    OK(corymb_process_team_create(&options, &group));
    OK(corymb_process_team_ranks(group, &first, &here));
    CHECK(first == 0 && here == 1);
    OK(corymb_process_team_join(group, 0, &team));
    OK(corymb_barrier(team));
    OK(corymb_process_team_abandon(group, 0, "the end"));
    OK(corymb_team_free(&team));
    OK(corymb_process_team_free(&group));
    CHECK(corymb_attach(&options, &team) == CORYMB_INVALID_ARGUMENT && team == NULL);
}

/// Runs after what the thread has been told was emptied.
static void fail_at_exit(void) {
    CHECK(corymb_barrier(NULL) == CORYMB_INVALID_ARGUMENT);
    CHECK(strstr(corymb_last_error(), "NULL") != NULL);
}

int main(void) {
    int arg = 42;
    CHECK(atexit(fail_at_exit) == 0);
    corymb_options options;
    corymb_options_init(&options);
    OK(corymb_threads(size, life, &arg, &options));
    corymb_thread_team* group = NULL;
    corymb_team* team = NULL;
    OK(corymb_thread_team_create(1, NULL, &group));
    OK(corymb_thread_team_join(group, 0, &team));
    OK(corymb_thread_team_abandon(group, 0, NULL));
    OK(corymb_team_free(&team));
    OK(corymb_thread_team_free(&group));
    processes();
    check_messages();
    check_remote();
    check_multicast();
    CHECK(strcmp(corymb_status_name(CORYMB_TIMEOUT), "timeout") == 0);
    CHECK(corymb_type_size(corymb_type_of_bytes(24)) == 24);
    printf("corymb %s from C, %d usable CPUs\n", corymb_version(), corymb_usable_cpus());
    return 0;
}

// SPDX-License-Identifier: Apache-2.0
// The C interface: threads sum a vector, once with an operator of the library and once with one of
// the program's own.
#include <corymb.h>

#include <stdio.h>

enum { elements = 1000 };

/// The larger magnitude, with its sign.
static void strongest(const void* left, const void* right, void* out, size_t count,
                      corymb_type type, void* context) {
    const double* a = left;
    const double* b = right;
    double* result = out;
    (void)type;
    (void)context;
    for (size_t i = 0; i < count; ++i) {
        result[i] = a[i] * a[i] < b[i] * b[i] ? b[i] : a[i];
    }
}

/// The life of one rank; what it returns is what corymb_threads returns.
static corymb_status work(corymb_team* team, void* arg) {
    const corymb_op op = *(const corymb_op*)arg;
    double own[elements], sum[elements];
    for (int i = 0; i < elements; ++i) {
        own[i] = corymb_team_rank(team) % 2 == 0 ? i : -2.0 * i;
    }
    corymb_status status = corymb_allreduce(own, sum, elements, CORYMB_DOUBLE, CORYMB_SUM, team);
    if (status != CORYMB_OK) {
        return status;
    }
    corymb_request* request;
    status = corymb_iallreduce(CORYMB_IN_PLACE, own, elements, CORYMB_DOUBLE, op, team, &request);
    if (status != CORYMB_OK) {
        return status;
    }
    // Here the rank could compute something else; corymb_progress(team, NULL) helps the sum along.
    status = corymb_wait(&request);
    if (status == CORYMB_OK && corymb_team_rank(team) == 0) {
        printf("%d ranks: the last sum is %g, the strongest %g\n", corymb_team_size(team),
               sum[elements - 1], own[elements - 1]);
    }
    return status;
}

int main(void) {
    corymb_op op;
    corymb_status status = corymb_op_create(strongest, NULL, 1, &op);
    if (status == CORYMB_OK) {
        status = corymb_threads(corymb_usable_cpus(), work, &op, NULL);
        corymb_op_free(&op);
    }
    if (status != CORYMB_OK) {
        fprintf(stderr, "%s: %s\n", corymb_status_name(status), corymb_last_error());
        return 1;
    }
    return 0;
}

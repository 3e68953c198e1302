/* SPDX-License-Identifier: Apache-2.0 */
/* The other blocks of docs/reference/c.md, to be compiled. */
#include <corymb.h>
#include <stdio.h>
#include <stdlib.h>

struct particle {
    double place[3];
};

corymb_status work(corymb_team* team, void* arg);
corymb_status clear(void* cache);
corymb_status open_account(corymb_remote_request* request, void** object);
corymb_status use_account(void* object, corymb_remote_request* request);

void again_and_again(corymb_team* team, int steps, const double* own, double* sum);
void again_and_again(corymb_team* team, int steps, const double* own, double* sum) {
    corymb_call* call = NULL;
    corymb_call_create(CORYMB_ALLREDUCE, 1, CORYMB_DOUBLE, CORYMB_SUM, 0, team, &call);
    for (int i = 0; i < steps; ++i) {
        corymb_call_run(call, &own[i], &sum[i]); /* as corymb_allreduce */
    }
    corymb_call_free(&call);
}

void own_operator(corymb_team* team, corymb_combine combine, void* context, const void* in,
                  void* out, size_t n);
void own_operator(corymb_team* team, corymb_combine combine, void* context, const void* in,
                  void* out, size_t n) {
    corymb_op op;
    corymb_op_create(combine, context, 0, &op); /* 0: not commutative */
    corymb_allreduce(in, out, n, corymb_type_of_bytes(sizeof(struct particle)), op, team);
    corymb_op_free(&op);
}

void with_options(void);
void with_options(void) {
    corymb_options options;
    corymb_options_init(&options);
    options.deadline_ns = 2000000000;
    corymb_threads(4, work, NULL, &options);
}

static corymb_status drop_cache(void* cache) {
    return clear(cache);
}

void calls_of_all_members(corymb_multicast* own, void* cache);
void calls_of_all_members(corymb_multicast* own, void* cache) {
    corymb_multicast_token* token = NULL;
    corymb_multicast_call(own, drop_cache, cache, &token);
    if (corymb_multicast_token_wait(&token, 50000000) == CORYMB_TIMEOUT) {
        fprintf(stderr, "%s\n", corymb_last_error()); /* who is late, in which state, by how much */
        corymb_multicast_token_wait(&token, 0);       /* the call goes on */
    }
}

static corymb_status twice(corymb_remote_request* request, void* context) {
    const int result = 2 * *(const int*)request->argument;
    return corymb_remote_answer(request, &result, sizeof result);
}

void calls_by_names(corymb_remote* own);
void calls_by_names(corymb_remote* own) {
    corymb_remote_offer(own, "twice", twice, NULL); /* before others ask */
    corymb_remote_call* call = NULL;
    int number = 21;
    corymb_remote_begin(own, 1, "twice", &number, sizeof number, &call);
    corymb_remote_call_wait(&call, 50000000, &number, sizeof number, NULL);
    corymb_remote_serve(own, 1000000000, NULL); /* handlers run here */
}

void calls_of_objects(corymb_remote* own, corymb_remote_call* call, int number);
void calls_of_objects(corymb_remote* own, corymb_remote_call* call, int number) {
    static const corymb_remote_class account = {open_account, use_account, free};
    corymb_remote_offer_class(own, "account", &account); /* where the objects live */

    corymb_remote_object made; /* a value, which may be sent */
    corymb_remote_create(own, 1, "account", NULL, 0, &call);
    corymb_remote_call_wait(&call, 0, &made, sizeof made, NULL);
    corymb_remote_call_objects(own, &made, 1, "pay", &number, sizeof number, &call);
}

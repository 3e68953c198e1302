// SPDX-License-Identifier: Apache-2.0
// The part of plain.c for calls by names and objects of other ranks.
#include "plain.h"

#include <corymb.h>

#include <poll.h>
#include <pthread.h>
#include <stdint.h>
#include <string.h>

static const int64_t second = 1000000000;

typedef struct Rank {
    corymb_remote* own;
    corymb_remote_reply* kept;
    int posted, counters;
} Rank;

static corymb_status run_square(corymb_remote_request* request, void* rank) {
    int64_t value = 0;
    (void)rank;
    CHECK(request->bytes == sizeof value && strcmp(request->name, "square") == 0);
    memcpy(&value, request->argument, sizeof value);
    value *= value;
    OK(corymb_remote_answer(request, &value, sizeof value));
    REFUSED(corymb_remote_answer(request, &value, sizeof value));
    return CORYMB_OK;
}

static corymb_status run_refuse(corymb_remote_request* request, void* rank) {
    (void)request, (void)rank;
    return CORYMB_MISMATCH;
}

static corymb_status run_later(corymb_remote_request* request, void* rank) {
    return corymb_remote_later(request, &((Rank*)rank)->kept);
}

static corymb_remote_call* begun;
/// What a handler must not do.
static corymb_status run_meddle(corymb_remote_request* request, void* rank) {
    corymb_remote** own = &((Rank*)rank)->own;
    CHECK(request->from == 0);
    REFUSED(corymb_remote_serve(*own, 0, NULL));
    REFUSED(corymb_remote_free(own));
    OK(corymb_remote_begin(*own, 1, "post", NULL, 0, &begun)); // It may begin calls.
    REFUSED(corymb_remote_call_wait(&begun, second, NULL, 0, NULL));
    REFUSED(corymb_remote_call_free(&begun));
    return CORYMB_OK;
}

static corymb_status run_post(corymb_remote_request* request, void* rank) {
    (void)request;
    ++((Rank*)rank)->posted;
    return CORYMB_OK;
}

typedef struct Counter {
    int64_t value;
} Counter;
static int ended;

static corymb_status make_counter(corymb_remote_request* request, void** object) {
    Counter* made = NULL;
    CHECK(strcmp(request->name, "counter") == 0);
    if (request->bytes != sizeof(int64_t)) {
        return CORYMB_MISMATCH;
    }
    made = malloc(sizeof *made);
    memcpy(&made->value, request->argument, sizeof made->value);
    *object = made;
    return CORYMB_OK;
}

static corymb_status call_counter(void* object, corymb_remote_request* request) {
    Counter* counter = object;
    if (strcmp(request->name, "add") == 0) {
        int64_t by = 0;
        memcpy(&by, request->argument, sizeof by);
        counter->value += by;
    } else if (strcmp(request->name, "value") != 0) {
        return CORYMB_UNKNOWN_NAME;
    }
    return corymb_remote_answer(request, &counter->value, sizeof counter->value);
}

static void end_counter(void* object) {
    ++ended;
    free(object);
}

static void* serve(void* given) {
    OK(corymb_remote_end(given));
    OK(corymb_remote_call_free(&begun));
    OK(corymb_remote_free((corymb_remote**)&given));
    return NULL;
}

static void functions(Rank* one, Rank* other) {
    corymb_remote_call* call = NULL;
    int64_t value = 12, result = 0;
    size_t bytes = 0, served = 0;
    int done = 1, stopped = 1;
    OK(corymb_remote_begin(one->own, 1, "square", &value, sizeof value, &call));
    OK(corymb_remote_call_test(call, &done));
    CHECK(!done);
    CHECK(corymb_remote_call_wait(&call, 1000, &result, sizeof result, &bytes) == CORYMB_TIMEOUT);
    CHECK(call != NULL && strstr(corymb_last_error(), "rank 1 has not answered") != NULL);
    OK(corymb_remote_serve(other->own, 0, &served));
    CHECK(served == 1);
    OK(corymb_remote_call_test(call, &done));
    CHECK(done);
    OK(corymb_remote_call_wait(&call, second, &result, sizeof result, &bytes));
    CHECK(result == 144 && bytes == sizeof result && call == NULL);

    OK(corymb_remote_begin(one->own, 1, "later", NULL, 0, &call));
    OK(corymb_remote_serve(other->own, second, &served));
    OK(corymb_remote_reply_is_stopped(other->kept, &stopped));
    CHECK(!stopped);
    OK(corymb_remote_reply_send(&other->kept, CORYMB_IO, "no paper", 8));
    CHECK(other->kept == NULL);
    CHECK(corymb_remote_call_wait(&call, second, NULL, 0, NULL) == CORYMB_IO);
    CHECK(call == NULL && strcmp(corymb_last_error(), "no paper") == 0);

    OK(corymb_remote_begin(one->own, 1, "later", NULL, 0, &call));
    OK(corymb_remote_serve(other->own, second, NULL));
    OK(corymb_remote_call_free(&call));
    OK(corymb_remote_serve(other->own, 0, NULL));
    OK(corymb_remote_reply_is_stopped(other->kept, &stopped));
    CHECK(stopped);
    OK(corymb_remote_reply_send(&other->kept, CORYMB_OK, NULL, 0));

    OK(corymb_remote_begin(one->own, 1, "post", NULL, 0, NULL));
    OK(corymb_remote_serve(other->own, second, NULL));
    CHECK(other->posted == 1);
}

static void failures(Rank* one) {
    static const char* const names[] = {"refuse", "sqare", "meddle"};
    corymb_remote_call* calls[3] = {NULL, NULL, NULL};
    int64_t value = 3, result = 0;
    for (int i = 0; i < 3; ++i) {
        OK(corymb_remote_begin(one->own, 1, names[i], NULL, 0, &calls[i]));
    }
    CHECK(corymb_remote_call_wait(&calls[1], second, NULL, 0, NULL) == CORYMB_UNKNOWN_NAME);
    CHECK(strstr(corymb_last_error(), "did you mean 'square'") != NULL);
    CHECK(corymb_remote_call_wait(&calls[0], second, NULL, 0, NULL) == CORYMB_MISMATCH);
    OK(corymb_remote_call_wait(&calls[2], second, NULL, 0, NULL));
    OK(corymb_remote_begin(one->own, 1, "square", &value, sizeof value, &calls[0]));
    CHECK(corymb_remote_call_wait(&calls[0], second, &result, 2, NULL) == CORYMB_MISMATCH);
    REFUSED(corymb_remote_begin(one->own, 2, "square", NULL, 0, &calls[0]));
    REFUSED(corymb_remote_begin(one->own, 1, NULL, NULL, 0, &calls[0]));
    REFUSED(corymb_remote_begin(one->own, 1, "square", NULL, 1, &calls[0]));
    REFUSED(corymb_remote_offer(one->own, "f", NULL, NULL));
    CHECK(calls[0] == NULL);
}

static void objects(Rank* one) {
    enum { count = 3 };
    corymb_remote_object made[count];
    corymb_remote_call* calls[count];
    int64_t values[count] = {0}, by = 10;
    for (int64_t i = 0; i < count; ++i) {
        OK(corymb_remote_create(one->own, 1, "counter", &i, sizeof i, &calls[i]));
    }
    OK(corymb_remote_call_wait_all(calls, count, second, made, sizeof *made));
    CHECK(calls[0] == NULL && made[1].rank == 1);
    OK(corymb_remote_call_objects(one->own, made, count, "add", &by, sizeof by, NULL));
    OK(corymb_remote_call_objects(one->own, made, count, "value", NULL, 0, calls));
    OK(corymb_remote_call_wait_all(calls, count, second, values, sizeof *values));
    CHECK(values[0] == 10 && values[1] == 11 && values[2] == 12);

    corymb_remote_object some[count] = {made[0], made[1], {2, 1}};
    REFUSED(corymb_remote_call_objects(one->own, some, count, "add", &by, sizeof by, NULL));
    some[2] = (corymb_remote_object){0, 0};
    REFUSED(corymb_remote_call_objects(one->own, some, count, "add", &by, sizeof by, NULL));
    OK(corymb_remote_call_objects(one->own, made, count, "value", NULL, 0, calls));
    OK(corymb_remote_call_wait_all(calls, count, second, values, sizeof *values));
    CHECK(values[0] == 10 && values[1] == 11 && values[2] == 12); /* None was begun. */

    OK(corymb_remote_destroy(one->own, made[1], &calls[0]));
    OK(corymb_remote_call_wait(&calls[0], second, NULL, 0, NULL));
    CHECK(ended == 1);
    OK(corymb_remote_call_objects(one->own, made, count, "value", NULL, 0, calls));
    REFUSED(corymb_remote_call_wait_all(calls, count, second, values, sizeof *values));
    CHECK(strstr(corymb_last_error(), "rank 1 has no such object") != NULL && calls[2] == NULL);
    OK(corymb_remote_call_objects(one->own, made, 1, "no_such", NULL, 0, calls));
    CHECK(corymb_remote_call_wait(&calls[0], second, NULL, 0, NULL) == CORYMB_UNKNOWN_NAME);
    OK(corymb_remote_create(one->own, 1, "no_such", NULL, 0, &calls[0]));
    CHECK(corymb_remote_call_wait(&calls[0], second, NULL, 0, NULL) == CORYMB_UNKNOWN_NAME);
    OK(corymb_remote_create(one->own, 1, "counter", NULL, 0, &calls[0]));
    CHECK(corymb_remote_call_wait(&calls[0], second, NULL, 0, NULL) == CORYMB_MISMATCH);
    made[0].number = 0;
    REFUSED(corymb_remote_call_objects(one->own, made, 1, "value", NULL, 0, calls));
    REFUSED(corymb_remote_destroy(one->own, made[0], NULL));
}

static void in_an_event_loop(Rank* one) {
    corymb_remote_call* call = NULL;
    int64_t value = 5, result = 0;
    int done = 0, descriptor = -1;
    OK(corymb_remote_descriptor(one->own, &descriptor));
    OK(corymb_remote_begin(one->own, 1, "square", &value, sizeof value, &call));
    while (!done) {
        struct pollfd one_of_them = {descriptor, POLLIN, 0};
        CHECK(poll(&one_of_them, 1, 60000) == 1);
        OK(corymb_remote_call_test(call, &done));
    }
    OK(corymb_remote_call_wait(&call, second, &result, sizeof result, NULL));
    CHECK(result == 25);
}

void check_remote(void) {
    static const corymb_remote_class counter = {make_counter, call_counter, end_counter};
    corymb_remote_group* group = NULL;
    Rank one = {NULL, NULL, 0, 0}, other = {NULL, NULL, 0, 0};
    pthread_t thread;
    OK(corymb_remote_group_create(2, NULL, &group));
    OK(corymb_remote_group_join(group, 0, &one.own));
    OK(corymb_remote_group_join(group, 1, &other.own));
    CHECK(corymb_remote_rank(other.own) == 1 && corymb_remote_size(other.own) == 2);
    OK(corymb_remote_offer(other.own, "square", run_square, &other));
    OK(corymb_remote_offer(other.own, "refuse", run_refuse, &other));
    OK(corymb_remote_offer(other.own, "later", run_later, &other));
    OK(corymb_remote_offer(other.own, "meddle", run_meddle, &other));
    OK(corymb_remote_offer(other.own, "post", run_post, &other));
    REFUSED(corymb_remote_offer(other.own, "post", run_post, &other));
    OK(corymb_remote_offer_class(other.own, "counter", &counter));
    REFUSED(corymb_remote_offer_class(other.own, "counter", &counter));
    functions(&one, &other);
    CHECK(pthread_create(&thread, NULL, serve, other.own) == 0);
    failures(&one);
    objects(&one);
    in_an_event_loop(&one);
    OK(corymb_remote_end(one.own));
    CHECK(pthread_join(thread, NULL) == 0);
    CHECK(ended == 3);
    OK(corymb_remote_free(&one.own));
    OK(corymb_remote_group_free(&group));
}

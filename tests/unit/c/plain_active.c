// SPDX-License-Identifier: Apache-2.0
// The part of plain.c for active messages and global pointers.
#include "plain.h"

#include <corymb.h>

#include <pthread.h>
#include <stdint.h>
#include <string.h>

enum { square = 1, refuse = 2, meddle = 3, stop = 4, silent = 5, unknown = 9 };
static const int64_t second = 1000000000;

typedef struct Rank {
    corymb_active_messages* own;
    int is_stopped, ran;
} Rank;

static corymb_status run_square(int from, const void* argument, size_t bytes, void* answer,
                                size_t room, size_t* answer_bytes, void* rank) {
    int64_t value = 0;
    CHECK(from == 0 && bytes == sizeof value && room == 40 && *answer_bytes == 0);
    memcpy(&value, argument, sizeof value);
    value *= value;
    memcpy(answer, &value, sizeof value);
    *answer_bytes = sizeof value;
    ++((Rank*)rank)->ran;
    return CORYMB_OK;
}

static corymb_status run_refuse(int from, const void* argument, size_t bytes, void* answer,
                                size_t room, size_t* answer_bytes, void* rank) {
    (void)from, (void)argument, (void)bytes, (void)answer, (void)room, (void)answer_bytes;
    (void)rank;
    return CORYMB_MISMATCH;
}

/// What a handler must not do.
static corymb_status run_meddle(int from, const void* argument, size_t bytes, void* answer,
                                size_t room, size_t* answer_bytes, void* rank) {
    corymb_active_messages** own = &((Rank*)rank)->own;
    (void)from, (void)argument, (void)bytes, (void)answer, (void)room, (void)answer_bytes;
    REFUSED(corymb_active_messages_poll(*own, NULL));
    REFUSED(corymb_active_messages_free(own));
    OK(corymb_active_messages_call(*own, 0, silent, NULL, 0, NULL)); // It may begin calls.
    return CORYMB_OK;
}

static corymb_status run_stop(int from, const void* argument, size_t bytes, void* answer,
                              size_t room, size_t* answer_bytes, void* rank) {
    (void)from, (void)argument, (void)bytes, (void)answer, (void)room, (void)answer_bytes;
    ((Rank*)rank)->is_stopped = 1;
    return CORYMB_OK;
}

static void* serve(void* given) {
    Rank* const rank = given;
    while (!rank->is_stopped) {
        OK(corymb_active_messages_serve(rank->own, second, NULL));
    }
    OK(corymb_active_messages_free(&rank->own));
    return NULL;
}

static void requests(corymb_active_messages* own, corymb_active_messages* other) {
    corymb_active_call* call = NULL;
    int64_t value = 12, result = 0;
    size_t bytes = 0, served = 0;
    int done = 1;
    OK(corymb_active_messages_call(own, 1, square, &value, sizeof value, &call));
    OK(corymb_active_call_test(call, &done));
    CHECK(!done);
    CHECK(corymb_active_call_wait(&call, 1000, &result, sizeof result, &bytes) == CORYMB_TIMEOUT);
    CHECK(call != NULL && strstr(corymb_last_error(), "rank 1 has not answered") != NULL);
    OK(corymb_active_messages_poll(other, &served));
    CHECK(served == 1);
    OK(corymb_active_call_test(call, &done));
    CHECK(done);
    OK(corymb_active_call_wait(&call, second, &result, sizeof result, &bytes));
    CHECK(result == 144 && bytes == sizeof result && call == NULL);
    REFUSED(corymb_active_call_wait(&call, second, NULL, 0, NULL));

    OK(corymb_active_messages_call(own, 1, refuse, NULL, 0, &call));
    OK(corymb_active_messages_poll(other, NULL));
    CHECK(corymb_active_call_wait(&call, second, NULL, 0, NULL) == CORYMB_MISMATCH);
    CHECK(call == NULL && strstr(corymb_last_error(), "rank 1: returned") != NULL);
    OK(corymb_active_messages_call(own, 1, square, &value, sizeof value, &call));
    OK(corymb_active_messages_poll(other, NULL));
    CHECK(corymb_active_call_wait(&call, second, &result, 2, &bytes) == CORYMB_MISMATCH);
    CHECK(call == NULL && bytes == sizeof value);
    OK(corymb_active_messages_call(own, 1, unknown, NULL, 0, &call));
    OK(corymb_active_messages_poll(other, NULL));
    REFUSED(corymb_active_call_wait(&call, second, NULL, 0, NULL));
    OK(corymb_active_messages_call(own, 1, meddle, NULL, 0, &call));
    OK(corymb_active_messages_poll(other, NULL));
    OK(corymb_active_call_wait(&call, second, NULL, 0, NULL));
    OK(corymb_active_messages_call(own, 1, square, &value, sizeof value, &call));
    OK(corymb_active_call_free(&call));
    OK(corymb_active_messages_poll(other, &served));
    CHECK(served == 1 && call == NULL);

    REFUSED(corymb_active_messages_call(own, 2, square, &value, sizeof value, &call));
    REFUSED(corymb_active_messages_call(own, 1, square, NULL, 8, &call));
    REFUSED(corymb_active_messages_call(own, 1, square, own, 41, &call));
    REFUSED(corymb_active_messages_on(own, CORYMB_ACTIVE_HANDLERS_MAX, run_stop, NULL));
    REFUSED(corymb_active_messages_on(own, 7, NULL, NULL));
    REFUSED(corymb_active_messages_serve(own, -1, NULL));
}

static void memory(corymb_active_messages* own, corymb_global_address table) {
    int64_t value = 5, was = 0, next = 6;
    corymb_global_address null = {-1, 0, 0}, second_one = table;
    second_one.offset += sizeof value;
    OK(corymb_active_messages_put(own, second_one, &value, sizeof value, second));
    OK(corymb_active_messages_compare_exchange(own, second_one, &value, &next, &was, sizeof value,
                                               second));
    CHECK(was == 5);
    OK(corymb_active_messages_get(own, second_one, &value, sizeof value, second));
    CHECK(value == 6);
    second_one.offset += sizeof value;
    REFUSED(corymb_active_messages_get(own, second_one, &value, sizeof value, second));
    REFUSED(corymb_active_messages_get(own, null, &value, sizeof value, second));
    CHECK(strstr(corymb_last_error(), "null") != NULL);
    REFUSED(corymb_active_messages_put(own, table, NULL, 8, second));
    REFUSED(corymb_active_messages_put(own, table, own, 25, second));
    REFUSED(corymb_active_messages_withdraw(own, table)); // It is another rank's.
}

void check_active(void) {
    corymb_mailbox_options options;
    corymb_mailbox_group* group = NULL;
    corymb_mailbox* box = NULL;
    corymb_active_messages* own = NULL;
    corymb_global_address table = {-1, 0, 0};
    int64_t numbers[2] = {1, 2};
    Rank other = {NULL, 0, 0};
    pthread_t thread;
    corymb_mailbox_options_init(&options);
    options.message_bytes = 16;
    OK(corymb_mailbox_group_create(1, &options, &group));
    OK(corymb_mailbox_group_join(group, 0, &box));
    REFUSED(corymb_active_messages_create(&box, 0, &own));
    CHECK(box != NULL && own == NULL);
    OK(corymb_mailbox_free(&box));
    OK(corymb_mailbox_group_free(&group));

    OK(corymb_mailbox_group_create(2, NULL, &group));
    OK(corymb_mailbox_group_join(group, 0, &box));
    REFUSED(corymb_active_messages_create(&box, -1, &own));
    OK(corymb_active_messages_create(&box, second, &own));
    CHECK(box == NULL && corymb_active_messages_rank(own) == 0);
    CHECK(corymb_active_messages_size(own) == 2 && corymb_active_messages_bytes_max(own) == 40);
    OK(corymb_mailbox_group_join(group, 1, &box));
    OK(corymb_active_messages_create(&box, 0, &other.own));
    OK(corymb_active_messages_on(other.own, square, run_square, &other));
    OK(corymb_active_messages_on(other.own, refuse, run_refuse, &other));
    OK(corymb_active_messages_on(other.own, meddle, run_meddle, &other));
    OK(corymb_active_messages_on(other.own, stop, run_stop, &other));
    requests(own, other.own);
    CHECK(other.ran == 3);

    OK(corymb_active_messages_offer(other.own, numbers, sizeof numbers, &table));
    CHECK(table.owner == 1);
    CHECK(pthread_create(&thread, NULL, serve, &other) == 0);
    memory(own, table);
    OK(corymb_active_messages_call(own, 1, stop, NULL, 0, NULL));
    pthread_join(thread, NULL);
    CHECK(numbers[0] == 1 && numbers[1] == 6 && other.own == NULL);
    REFUSED(corymb_active_messages_get(own, table, numbers, 8, second)); // It has left.
    OK(corymb_active_messages_free(&own));
    OK(corymb_active_messages_free(&own));
    REFUSED(corymb_active_messages_poll(own, NULL));
    OK(corymb_mailbox_group_free(&group));
}

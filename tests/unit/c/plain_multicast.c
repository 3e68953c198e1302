// SPDX-License-Identifier: Apache-2.0
// The part of plain.c for acknowledged multicast.
#include "plain.h"

#include <corymb.h>

#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { long_enough = 2000000000, unwanted = 3, thrown = 9 };

/// What has run, and what it tries on its own rank.
typedef struct Ran {
    int count;
    size_t bytes;
    corymb_multicast* own;
    corymb_multicast_token* token;
} Ran;

static corymb_status count_call(void* context) {
    Ran* const ran = context;
    ++ran->count;
    return ran->count == thrown ? CORYMB_IO : CORYMB_OK;
}

static corymb_status count_message(const void* message, size_t bytes, void* context) {
    Ran* const ran = context;
    ++ran->count;
    ran->bytes = bytes;
    return bytes == unwanted || (bytes != 0 && *(const char*)message == 'x') ? CORYMB_MISMATCH
                                                                             : CORYMB_OK;
}

/// A call that uses the group.
static corymb_status meddle(void* context) {
    Ran* const ran = context;
    REFUSED(corymb_multicast_poll(ran->own, NULL));
    REFUSED(corymb_multicast_join(ran->own));
    REFUSED(corymb_multicast_send(ran->own, "a", 1, 0, NULL));
    REFUSED(corymb_multicast_begin_quiescent(ran->own));
    REFUSED(corymb_multicast_free(&ran->own));
    REFUSED(corymb_multicast_token_free(&ran->token));
    CHECK(ran->own != NULL && ran->token != NULL);
    ++ran->count;
    return CORYMB_OK;
}

static void calls_among_threads(corymb_multicast* one, corymb_multicast* other) {
    Ran ran = {0, 0, one, NULL};
    corymb_multicast_token* token = NULL;
    corymb_multicast_late late;
    size_t count = 0;
    int done = 1, polled = 0, blamed = -1;
    OK(corymb_multicast_call(one, count_call, &ran, &token));
    CHECK(corymb_multicast_token_members(token) == 2 && ran.count == 1);
    CHECK(corymb_multicast_token_wait(&token, 1000000) == CORYMB_TIMEOUT);
    CHECK(token != NULL && corymb_last_error_ranks(&blamed, 1) == 1 && blamed == 1);
    OK(corymb_multicast_token_test(&token, &done));
    CHECK(!done && token != NULL);
    OK(corymb_multicast_token_late(token, &late, 1, &count));
    CHECK(count == 1 && late.rank == 1 && late.state == CORYMB_MULTICAST_TOLD && late.by_ns > 0);
    OK(corymb_multicast_sleep(other, long_enough, &polled));
    CHECK(polled == 1 && ran.count == 2);
    OK(corymb_multicast_token_wait(&token, long_enough));
    CHECK(token == NULL);
    REFUSED(corymb_multicast_token_wait(&token, 0));

    // What a member's function returns; and who is quiescent is not asked.
    ran.count = thrown - 1;
    OK(corymb_multicast_begin_quiescent(other));
    OK(corymb_multicast_begin_quiescent(other));
    OK(corymb_multicast_end_quiescent(other));
    CHECK(!corymb_multicast_is_member(other));
    OK(corymb_multicast_call(one, count_call, &ran, &token));
    CHECK(corymb_multicast_token_members(token) == 1);
    CHECK(corymb_multicast_token_test(&token, &done) == CORYMB_IO && done && token == NULL);
    OK(corymb_multicast_end_quiescent(other));
    CHECK(corymb_multicast_is_member(other));
    REFUSED(corymb_multicast_end_quiescent(other));

    // Inside of a call nothing of the group may be used.
    OK(corymb_multicast_leave(one));
    OK(corymb_multicast_send(one, "xyz", unwanted, 7, &ran.token));
    OK(corymb_multicast_poll(other, NULL));
    CHECK(corymb_multicast_token_wait(&ran.token, long_enough) == CORYMB_INVALID_ARGUMENT);
    CHECK(strstr(corymb_last_error(), "handler 7") != NULL && ran.token == NULL);
    ran.own = other;
    ran.count = 0;
    OK(corymb_multicast_call(other, count_call, &ran, &ran.token));
    OK(corymb_multicast_call(one, meddle, &ran, &token));
    OK(corymb_multicast_poll(other, &polled));
    CHECK(polled == 1 && ran.count == 2);
    OK(corymb_multicast_token_free(&ran.token));
    OK(corymb_multicast_token_wait(&token, long_enough));
}

static void among_threads(void) {
    corymb_multicast_options options;
    corymb_multicast_group* group = NULL;
    corymb_multicast *one = NULL, *other = NULL;
    corymb_multicast_token* token = NULL;
    char* text = NULL;
    int descriptor = 0;
    memset(&options, 0, sizeof options);
    REFUSED(corymb_multicast_group_create(2, &options, &group));
    corymb_multicast_options_init(&options);
    options.topology = (corymb_multicast_topology)9;
    REFUSED(corymb_multicast_group_create(2, &options, &group));
    options.topology = CORYMB_MULTICAST_FLAT;
    options.acknowledgement = (corymb_multicast_acknowledgement)9;
    REFUSED(corymb_multicast_group_create(2, &options, &group));
    options.acknowledgement = CORYMB_MULTICAST_BY_MESSAGES;
    OK(corymb_multicast_group_create(2, &options, &group));
    OK(corymb_multicast_group_free(&group));
    options.topology = CORYMB_MULTICAST_TREE; // Without a plan.
    REFUSED(corymb_multicast_group_create(2, &options, &group));
    options.plan_json = "{";
    CHECK(corymb_multicast_group_create(2, &options, &group) != CORYMB_OK && group == NULL);
    options.plan_json = NULL;
    options.topology = CORYMB_MULTICAST_SPLIT;
    OK(corymb_multicast_group_create(2, &options, &group));
    OK(corymb_multicast_group_topology(group, &text));
    CHECK(strstr(text, "split by 4") != NULL);
    corymb_free(text);
    REFUSED(corymb_multicast_group_make_descriptor(group, &descriptor));
    CHECK(descriptor == -1);
    OK(corymb_multicast_group_initiator(group, 0, &one));
    REFUSED(corymb_multicast_group_initiator(group, 0, &other));
    REFUSED(corymb_multicast_group_initiator(group, 2, &other));
    OK(corymb_multicast_group_initiator(group, 1, &other));
    OK(corymb_multicast_join(one));
    OK(corymb_multicast_join(other));
    CHECK(corymb_multicast_group_members(group) == 2 && corymb_multicast_group_size(group) == 2);
    OK(corymb_multicast_group_free(&group));
    calls_among_threads(one, other);
    REFUSED(corymb_multicast_call(one, NULL, NULL, &token));
    REFUSED(corymb_multicast_on(one, 0, NULL, NULL));
    REFUSED(corymb_multicast_send(one, NULL, 1, 0, &token));
    REFUSED(corymb_multicast_sleep(one, -1, NULL));
    corymb_multicast* const freed = other;
    OK(corymb_multicast_free(&other));
    REFUSED(corymb_multicast_poll(freed, NULL));
    CHECK(corymb_multicast_rank(freed) == -1 && corymb_multicast_token_members(NULL) == 0);
    OK(corymb_multicast_free(&one));
    OK(corymb_multicast_free(&one));
}

/// A member of another process, which ends well when it was sent a message without bytes.
static int serve(int descriptor) {
    corymb_multicast_group* group = NULL;
    corymb_multicast* own = NULL;
    Ran ran = {0, 1, NULL, NULL};
    OK(corymb_multicast_group_open(descriptor, &group));
    OK(corymb_multicast_group_initiator(group, 1, &own));
    OK(corymb_multicast_on(own, 5, count_message, &ran));
    OK(corymb_multicast_join(own));
    for (int i = 0; i < 60 && ran.bytes != 0; ++i) {
        OK(corymb_multicast_sleep(own, long_enough / 2, NULL));
    }
    OK(corymb_multicast_free(&own));
    return ran.bytes == 0 ? 0 : 1;
}

static void wait_for_members(const corymb_multicast_group* group, corymb_multicast* own,
                             int members) {
    for (int i = 0; i < 60000 && corymb_multicast_group_members(group) != members; ++i) {
        OK(corymb_multicast_sleep(own, 1000000, NULL));
    }
    CHECK(corymb_multicast_group_members(group) == members);
}

/// One that is killed when `pipe` ends.
static void never_poll(int descriptor, int pipe) {
    corymb_multicast_group* group = NULL;
    corymb_multicast* idle = NULL;
    char nothing = 0;
    OK(corymb_multicast_group_open(descriptor, &group));
    OK(corymb_multicast_group_initiator(group, 1, &idle));
    OK(corymb_multicast_join(idle));
    CHECK(read(pipe, &nothing, 1) == 0);
    raise(SIGKILL);
}

static void among_processes(void) {
    corymb_multicast_options options;
    corymb_multicast_group *group = NULL, *same = NULL;
    corymb_multicast *own = NULL, *other = NULL;
    corymb_multicast_token* token = NULL;
    corymb_multicast_under_way call;
    size_t count = 0;
    int descriptor = -1, status = 0, blamed = -1, end[2];
    char name[64];
    snprintf(name, sizeof name, "corymb-test-%ld-multicast", (long)getpid());
    corymb_multicast_options_init(&options);
    options.name = name;
    OK(corymb_multicast_group_create(2, &options, &group));
    OK(corymb_multicast_group_create(2, &options, &same));
    OK(corymb_multicast_group_make_descriptor(group, &descriptor));
    OK(corymb_multicast_group_initiator(group, 0, &own));
    REFUSED(corymb_multicast_group_join(same, 0, &other));
    OK(corymb_multicast_group_join(same, 1, &other));
    CHECK(corymb_multicast_is_member(other) && corymb_multicast_group_members(group) == 1);
    OK(corymb_multicast_free(&other));
    OK(corymb_multicast_group_free(&same));
    REFUSED(corymb_multicast_call(own, count_call, NULL, &token));
    pid_t pid = fork();
    if (pid == 0) {
        _exit(serve(descriptor));
    }
    wait_for_members(group, own, 1);
    OK(corymb_multicast_send(own, "abcd", 4, 5, &token));
    OK(corymb_multicast_token_wait(&token, 30 * (int64_t)long_enough));
    OK(corymb_multicast_send(own, "abc", unwanted, 5, &token));
    CHECK(corymb_multicast_token_wait(&token, 30 * (int64_t)long_enough) == CORYMB_MISMATCH);
    OK(corymb_multicast_send(own, NULL, 0, 5, NULL));
    CHECK(waitpid(pid, &status, 0) == pid && status == 0);

    CHECK(pipe(end) == 0);
    pid = fork();
    if (pid == 0) {
        close(end[1]);
        never_poll(descriptor, end[0]);
        _exit(1);
    }
    close(end[0]);
    wait_for_members(group, own, 1);
    OK(corymb_multicast_send(own, "abcd", 4, 5, &token));
    OK(corymb_multicast_group_under_way(group, &call, 1, &count));
    CHECK(count == 1 && call.initiator == 0 && call.members == 1 && call.late == 1);
    close(end[1]);
    CHECK(waitpid(pid, &status, 0) == pid && WIFSIGNALED(status));
    CHECK(corymb_multicast_token_wait(&token, 30 * (int64_t)long_enough) == CORYMB_TEAM_BROKEN);
    CHECK(token == NULL && corymb_last_error_ranks(&blamed, 1) == 1 && blamed == 1);
    OK(corymb_multicast_free(&own));
    OK(corymb_multicast_group_free(&group));
    close(descriptor);
}

void check_multicast(void) {
    among_threads();
    among_processes();
}

// SPDX-License-Identifier: Apache-2.0
// Calls between two processes, in C: a child keeps accounts, which are objects, and adds up what it
// is sent, by a function with a name.
#include <corymb.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { accounts = 3 };
static const int64_t limit_ns = 10000000000;

static void must(corymb_status status) {
    if (status != CORYMB_OK) {
        fprintf(stderr, "%s: %s\n", corymb_status_name(status), corymb_last_error());
        _Exit(1);
    }
}

static corymb_status open_account(corymb_remote_request* request, void** object) {
    long* balance = calloc(1, sizeof *balance);
    (void)request;
    *object = balance;
    return balance ? CORYMB_OK : CORYMB_OUT_OF_MEMORY;
}

static corymb_status use_account(void* object, corymb_remote_request* request) {
    long* balance = object;
    if (strcmp(request->name, "pay") == 0) {
        *balance += *(const int*)request->argument;
    }
    return corymb_remote_answer(request, balance, sizeof *balance);
}

static corymb_status add(corymb_remote_request* request, void* context) {
    const int* numbers = request->argument;
    long sum = 0;
    (void)context;
    for (size_t i = 0; i < request->bytes / sizeof *numbers; ++i) {
        sum += numbers[i];
    }
    return corymb_remote_answer(request, &sum, sizeof sum);
}

static void child(int descriptor) {
    const corymb_remote_class account = {open_account, use_account, free};
    corymb_remote_group* group = NULL;
    corymb_remote* own = NULL;
    must(corymb_remote_group_open(descriptor, &group));
    must(corymb_remote_group_join(group, 1, &own));
    must(corymb_remote_offer(own, "add", add, NULL));
    must(corymb_remote_offer_class(own, "account", &account));
    must(corymb_remote_end(own)); // Serves until the parent has called this, too.
    must(corymb_remote_free(&own));
    _Exit(0);
}

static int parent(corymb_remote* own) {
    const int numbers[] = {1, 2, 3, 4}, paid = 25;
    corymb_remote_object account[accounts];
    corymb_remote_call *sum = NULL, *calls[accounts];
    long added = 0, balance[accounts], total = 0;
    must(corymb_remote_begin(own, 1, "add", numbers, sizeof numbers, &sum));
    for (int i = 0; i < accounts; ++i) {
        must(corymb_remote_create(own, 1, "account", NULL, 0, &calls[i]));
    }
    must(corymb_remote_call_wait_all(calls, accounts, limit_ns, account, sizeof *account));
    must(corymb_remote_call_objects(own, account, accounts, "pay", &paid, sizeof paid, calls));
    must(corymb_remote_call_wait_all(calls, accounts, limit_ns, balance, sizeof *balance));
    must(corymb_remote_call_wait(&sum, limit_ns, &added, sizeof added, NULL));
    for (int i = 0; i < accounts; ++i) {
        total += balance[i];
    }
    printf("the sum is %ld, and the accounts have %ld\n", added, total);
    return added == 10 && total == 75 ? 0 : 1;
}

int main(void) {
    corymb_remote_options options;
    corymb_remote_group* group = NULL;
    corymb_remote* own = NULL;
    int descriptor = -1, status = 0;
    corymb_remote_options_init(&options);
    options.between_processes = 1;
    must(corymb_remote_group_create(2, &options, &group));
    must(corymb_remote_group_make_descriptor(group, &descriptor));
    if (fork() == 0) {
        child(descriptor);
    }
    must(corymb_remote_group_join(group, 0, &own));
    const int result = parent(own);
    must(corymb_remote_end(own));
    must(corymb_remote_free(&own));
    must(corymb_remote_group_free(&group));
    wait(&status);
    return result != 0 || status != 0;
}

// SPDX-License-Identifier: Apache-2.0
// Mailboxes and a broadcast ring between two processes, in C: a child squares the numbers that it
// is sent, and hears by broadcast that it is done.
#include <corymb.h>

#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

enum { numbers = 100, limit_ns = 1000000000 };

static void must(corymb_status status) {
    if (status != CORYMB_OK) {
        fprintf(stderr, "%s: %s\n", corymb_status_name(status), corymb_last_error());
        _Exit(1);
    }
}

static corymb_status square(int from, const void* message, size_t bytes, void* mailbox) {
    const int number = *(const int*)message;
    const int result = number * number;
    int sent = 0;
    (void)bytes;
    return corymb_mailbox_send(mailbox, from, &result, sizeof result, &sent);
}

static corymb_status add(int from, const void* message, size_t bytes, void* sum) {
    (void)from;
    (void)bytes;
    *(int*)sum += *(const int*)message;
    return CORYMB_OK;
}

static void child(int mail, int news) {
    corymb_mailbox_group* group = NULL;
    corymb_broadcast_ring* ring = NULL;
    corymb_mailbox* box = NULL;
    corymb_broadcast_reader* reader = NULL;
    must(corymb_mailbox_group_open(mail, &group));
    must(corymb_broadcast_ring_open(news, &ring));
    must(
        corymb_broadcast_ring_reader(ring, CORYMB_BROADCAST_BLOCK, CORYMB_BROADCAST_NEXT, &reader));
    must(corymb_mailbox_group_join(group, 1, &box));
    int at_end = 0;
    while (!at_end) {
        int ready = 0;
        must(corymb_mailbox_wait(box, limit_ns / 1000, &ready));
        must(corymb_mailbox_probe(box, square, box, SIZE_MAX, NULL));
        must(corymb_broadcast_at_end(reader, &at_end));
    }
    _Exit(0);
}

static int parent(corymb_mailbox* box) {
    int sum = 0, sent = 0;
    size_t back = 0, taken = 0;
    for (int number = 0; back < numbers;) {
        if (number < numbers) {
            must(corymb_mailbox_send(box, 1, &number, sizeof number, &sent));
            number += sent; // No room: take answers first.
        } else {
            must(corymb_mailbox_wait(box, limit_ns, &sent));
        }
        must(corymb_mailbox_probe(box, add, &sum, SIZE_MAX, &taken));
        back += taken;
    }
    return sum;
}

int main(void) {
    corymb_mailbox_options mail;
    corymb_broadcast_options news;
    corymb_mailbox_group* group = NULL;
    corymb_broadcast_ring* ring = NULL;
    corymb_broadcast_publisher* publisher = NULL;
    corymb_mailbox* box = NULL;
    int mail_descriptor = -1, news_descriptor = -1, status = 0;
    corymb_mailbox_options_init(&mail);
    mail.between_processes = 1;
    mail.capacity = 128; // The child answers all numbers even when nobody reads.
    corymb_broadcast_options_init(&news);
    news.between_processes = 1;
    must(corymb_mailbox_group_create(2, &mail, &group));
    must(corymb_broadcast_ring_create(&news, &ring));
    must(corymb_mailbox_group_make_descriptor(group, &mail_descriptor));
    must(corymb_broadcast_ring_make_descriptor(ring, &news_descriptor));
    must(corymb_broadcast_ring_publisher(ring, &publisher));
    const pid_t pid = fork();
    if (pid == 0) {
        child(mail_descriptor, news_descriptor);
    }
    must(corymb_mailbox_group_join(group, 0, &box));
    printf("the sum of the first %d squares is %d\n", numbers, parent(box));
    must(corymb_broadcast_publisher_free(&publisher));
    waitpid(pid, &status, 0);
    must(corymb_mailbox_free(&box));
    must(corymb_mailbox_group_free(&group));
    must(corymb_broadcast_ring_free(&ring));
    return status == 0 ? 0 : 1;
}

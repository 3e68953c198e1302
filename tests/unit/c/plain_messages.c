// SPDX-License-Identifier: Apache-2.0
// The part of plain.c for mailboxes and broadcast rings.
#include "plain.h"

#include <corymb.h>

#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/// What has come; a handler refuses a message of this many bytes.
enum { unwanted = 3 };
typedef struct Got {
    int count, from;
    size_t bytes;
    unsigned char first;
    uint64_t number, missed;
} Got;

static corymb_status keep(int from, const void* message, size_t bytes, void* context) {
    Got* got = context;
    ++got->count;
    got->from = from;
    got->bytes = bytes;
    got->first = bytes == 0 ? 0 : *(const unsigned char*)message;
    return bytes == unwanted ? CORYMB_MISMATCH : CORYMB_OK;
}

static corymb_status keep_published(const corymb_broadcast_message* message, void* context) {
    Got* got = context;
    got->number = message->number;
    got->missed = message->missed;
    return keep(-1, message->data, message->bytes, context);
}

static size_t write_seven(void* place, size_t room, void* context) {
    memset(place, 7, room);
    return *(size_t*)context;
}

/// What a callback must not do to what calls it.
static corymb_status free_mailbox(int from, const void* message, size_t bytes, void* mailbox) {
    (void)from, (void)message, (void)bytes;
    REFUSED(corymb_mailbox_free(mailbox));
    return CORYMB_OK;
}

static size_t write_and_free(void* place, size_t room, void* mailbox) {
    (void)place;
    REFUSED(corymb_mailbox_free(mailbox));
    return room;
}

static corymb_status free_reader(const corymb_broadcast_message* message, void* reader) {
    (void)message;
    REFUSED(corymb_broadcast_reader_free(reader));
    return CORYMB_OK;
}

static void send_and_probe(corymb_mailbox* one, corymb_mailbox* other) {
    Got got = {0};
    int sent = 0, ready = 0;
    size_t count = 0, length = 2;
    CHECK(corymb_mailbox_rank(other) == 1 && corymb_mailbox_size(other) == 2);
    OK(corymb_mailbox_wait(other, 0, &ready));
    CHECK(!ready);
    OK(corymb_mailbox_send(one, 1, "abc", 4, &sent));
    OK(corymb_mailbox_wait(other, 1000000000, &ready));
    CHECK(sent && ready);
    OK(corymb_mailbox_probe(other, keep, &got, SIZE_MAX, &count));
    CHECK(count == 1 && got.count == 1 && got.from == 0 && got.bytes == 4 && got.first == 'a');

    const void* const messages[2] = {"x", "yz"};
    const size_t bytes[2] = {1, 2};
    OK(corymb_mailbox_send_batch(one, 1, messages, bytes, 2, &count));
    CHECK(count == 2);
    OK(corymb_mailbox_send_in_place(one, 1, 8, write_seven, &length, &sent));
    CHECK(!sent); // There is room for two.
    OK(corymb_mailbox_wait_for_room(one, 1, 1000, &ready));
    CHECK(!ready);
    OK(corymb_mailbox_send_within(one, 1, "abc", 4, 1000, &sent));
    CHECK(!sent);
    OK(corymb_mailbox_probe(other, keep, &got, 1, &count));
    CHECK(count == 1 && got.first == 'x');
    OK(corymb_mailbox_probe(other, keep, &got, SIZE_MAX, NULL));
    OK(corymb_mailbox_send_in_place(one, 1, 8, write_seven, &length, &sent));
    OK(corymb_mailbox_probe(other, keep, &got, SIZE_MAX, &count));
    CHECK(sent && count == 1 && got.bytes == 2 && got.first == 7);
    OK(corymb_mailbox_wait_for_room(one, 1, 1000000000, &ready));
    OK(corymb_mailbox_send_within(one, 1, "d", 2, 1000000000, &sent));
    OK(corymb_mailbox_probe(other, keep, &got, SIZE_MAX, &count));
    CHECK(ready && sent && count == 1 && got.first == 'd');
    REFUSED(corymb_mailbox_wait_for_room(one, 2, 0, &ready));
    REFUSED(corymb_mailbox_wait_for_room(one, 1, -1, &ready));
    REFUSED(corymb_mailbox_send_within(one, 1, NULL, 4, 0, &sent));

    OK(corymb_mailbox_send_in_place(one, 1, 8, write_and_free, &one, &sent));
    OK(corymb_mailbox_probe(other, free_mailbox, &other, SIZE_MAX, &count));
    CHECK(sent && count == 1);

    OK(corymb_mailbox_send(one, 1, "abc", unwanted, &sent));
    CHECK(corymb_mailbox_probe(other, keep, &got, SIZE_MAX, &count) == CORYMB_MISMATCH);
    CHECK(count == 1);
    REFUSED(corymb_mailbox_send(one, 2, "abc", 4, &sent));
    REFUSED(corymb_mailbox_send(one, 1, "abc", 1 << 20, &sent));
    REFUSED(corymb_mailbox_send(one, 1, NULL, 4, &sent));
    REFUSED(corymb_mailbox_wait(one, -1, &ready));
    REFUSED(corymb_mailbox_probe(one, NULL, NULL, 1, NULL));
}

static void mailboxes(void) {
    corymb_mailbox_options options;
    corymb_mailbox_group *group = NULL, *same = NULL;
    corymb_mailbox *one = NULL, *other = NULL;
    corymb_mailbox_protocol protocol = CORYMB_MAILBOX_AUTOMATIC;
    char* reason = NULL;
    size_t bytes = 0;
    int descriptor = -1, sent = 0, blamed = -1;
    REFUSED(corymb_mailbox_group_create(2, NULL, NULL));
    memset(&options, 0, sizeof options);
    REFUSED(corymb_mailbox_group_create(2, &options, &group));
    corymb_mailbox_options_init(&options);
    options.capacity = 2;
    options.between_processes = 1;
    options.protocol = (corymb_mailbox_protocol)17;
    REFUSED(corymb_mailbox_group_create(2, &options, &group));
    options.protocol = CORYMB_MAILBOX_NVP;
    OK(corymb_mailbox_group_create(2, &options, &group));
    OK(corymb_mailbox_group_protocol(group, &protocol));
    OK(corymb_mailbox_group_reason(group, &reason));
    CHECK(protocol == CORYMB_MAILBOX_NVP && strstr(reason, "nvp") == reason);
    corymb_free(reason);
    OK(corymb_mailbox_group_make_descriptor(group, &descriptor));
    OK(corymb_mailbox_group_open(descriptor, &same));
    OK(corymb_mailbox_group_join(group, 0, &one));
    REFUSED(corymb_mailbox_group_join(same, 0, &other));
    CHECK(other == NULL);
    OK(corymb_mailbox_group_join(same, 1, &other));
    OK(corymb_mailbox_group_free(&same));
    send_and_probe(one, other);
    OK(corymb_mailbox_group_memory(group, &bytes));
    CHECK(bytes > 0);
    corymb_mailbox* const freed = other;
    OK(corymb_mailbox_free(&other));
    CHECK(other == NULL);
    REFUSED(corymb_mailbox_send(one, 1, "abc", 4, &sent));
    CHECK(corymb_last_error_ranks(&blamed, 1) == 1 && blamed == 1);
    OK(corymb_mailbox_has_left(one, 1, &sent));
    CHECK(sent == 1);
    OK(corymb_mailbox_has_left(one, 0, &sent));
    CHECK(sent == 0);
    REFUSED(corymb_mailbox_has_left(one, 2, &sent));
    REFUSED(corymb_mailbox_send(freed, 0, "abc", 4, &sent));
    CHECK(corymb_mailbox_rank(freed) == -1 && corymb_mailbox_size(NULL) == 0);
    OK(corymb_mailbox_free(&one));
    OK(corymb_mailbox_free(&one));
    OK(corymb_mailbox_group_free(&group));
    close(descriptor);
}

static void late_reader(corymb_broadcast_ring* ring, corymb_broadcast_publisher* publisher) {
    corymb_broadcast_reader_info info;
    corymb_broadcast_reader* late = NULL;
    Got first = {0};
    size_t count = 0;
    int published = 1;
    OK(corymb_broadcast_ring_reader(ring, CORYMB_BROADCAST_BLOCK, CORYMB_BROADCAST_LAST, &late));
    OK(corymb_broadcast_probe(late, keep_published, &first, 1, &count));
    CHECK(count == 1 && first.number == corymb_broadcast_published(publisher));
    OK(corymb_broadcast_publish(publisher, "1", 1, 0));
    OK(corymb_broadcast_publish(publisher, "2", 1, 0));
    OK(corymb_broadcast_try_publish(publisher, "3", 1, &published));
    CHECK(!published);
    CHECK(corymb_broadcast_publish(publisher, "3", 1, 1000000) == CORYMB_TIMEOUT);
    CHECK(corymb_last_error_ranks(NULL, 0) == 1);
    OK(corymb_broadcast_ring_readers(ring, &info, 1, &count));
    CHECK(count >= 1 && info.pid == (uint32_t)getpid());
    OK(corymb_broadcast_drop(publisher, corymb_broadcast_reader_number(late)));
    OK(corymb_broadcast_try_publish(publisher, "3", 1, &published));
    CHECK(published && corymb_broadcast_published(publisher) == 4);
    OK(corymb_broadcast_take_dropped(publisher, &info, 1, &count));
    CHECK(count == 1 && info.is_dropped && !info.has_ended);
    CHECK(info.reader == corymb_broadcast_reader_number(late));
    OK(corymb_broadcast_reader_free(&late));
}

static void meet_by_name(void) {
    char name[64];
    snprintf(name, sizeof name, "corymb-test-%ld-plain", (long)getpid());
    corymb_mailbox_options options;
    corymb_mailbox_group *group = NULL, *same = NULL;
    corymb_mailbox *one = NULL, *other = NULL;
    corymb_mailbox_options_init(&options);
    options.name = name;
    OK(corymb_mailbox_group_create(2, &options, &group));
    OK(corymb_mailbox_group_create(2, &options, &same));
    REFUSED(corymb_mailbox_group_create(3, &options, NULL));
    OK(corymb_mailbox_group_join(group, 0, &one));
    REFUSED(corymb_mailbox_group_join(same, 0, &other));

    corymb_broadcast_options news;
    corymb_broadcast_ring *ring = NULL, *same_ring = NULL;
    corymb_broadcast_publisher *publisher = NULL, *second = NULL;
    corymb_broadcast_options_init(&news);
    news.name = name;
    REFUSED(corymb_broadcast_ring_create(&news, &ring));
    OK(corymb_mailbox_free(&one));
    OK(corymb_mailbox_group_free(&same));
    OK(corymb_mailbox_group_free(&group));
    OK(corymb_broadcast_ring_create(&news, &ring)); // The name is free.
    OK(corymb_broadcast_ring_create(&news, &same_ring));
    OK(corymb_broadcast_ring_publisher(ring, &publisher));
    REFUSED(corymb_broadcast_ring_publisher(same_ring, &second));
    OK(corymb_broadcast_publisher_free(&publisher));
    OK(corymb_broadcast_ring_free(&same_ring));
    OK(corymb_broadcast_ring_free(&ring));
}

static void broadcast_ring(void) {
    corymb_broadcast_options options;
    corymb_broadcast_ring *ring = NULL, *same = NULL;
    corymb_broadcast_publisher *publisher = NULL, *second = NULL;
    corymb_broadcast_reader* reader = NULL;
    Got got = {0};
    size_t count = 0;
    int descriptor = -1, ready = 0, at_end = 0;
    corymb_broadcast_options_init(&options);
    options.slots = 2;
    options.between_processes = 1;
    OK(corymb_broadcast_ring_create(&options, &ring));
    OK(corymb_broadcast_ring_make_descriptor(ring, &descriptor));
    OK(corymb_broadcast_ring_open(descriptor, &same));
    OK(corymb_broadcast_ring_publisher(ring, &publisher));
    REFUSED(corymb_broadcast_ring_publisher(same, &second));
    REFUSED(corymb_broadcast_ring_reader(same, (corymb_broadcast_policy)9, CORYMB_BROADCAST_NEXT,
                                         &reader));
    REFUSED(corymb_broadcast_ring_reader(same, CORYMB_BROADCAST_DROP, (corymb_broadcast_start)2,
                                         &reader));
    OK(corymb_broadcast_ring_reader(same, CORYMB_BROADCAST_OVERRUN, CORYMB_BROADCAST_LAST,
                                    &reader));
    OK(corymb_broadcast_wait(reader, 0, &ready));
    CHECK(!ready);
    OK(corymb_broadcast_publish(publisher, "a", 2, 0));
    OK(corymb_broadcast_wait(reader, 1000000000, &ready));
    OK(corymb_broadcast_probe(reader, keep_published, &got, SIZE_MAX, &count));
    CHECK(ready && count == 1 && got.number == 1 && got.missed == 0 && got.first == 'a');
    late_reader(ring, publisher);
    OK(corymb_broadcast_probe(reader, keep_published, &got, SIZE_MAX, NULL));
    CHECK(got.number == 4 && corymb_broadcast_last(reader) == 4);
    OK(corymb_broadcast_publish(publisher, "abc", unwanted, 0));
    CHECK(corymb_broadcast_probe(reader, keep_published, &got, 1, NULL) == CORYMB_MISMATCH);
    OK(corymb_broadcast_publish(publisher, "d", 2, 0));
    OK(corymb_broadcast_probe(reader, free_reader, &reader, SIZE_MAX, &count));
    CHECK(count == 1 && corymb_broadcast_reader_number(reader) >= 0);
    REFUSED(corymb_broadcast_publish(publisher, "a", 1 << 20, 0));
    OK(corymb_broadcast_publisher_free(&publisher));
    OK(corymb_broadcast_at_end(reader, &at_end));
    CHECK(at_end);
    OK(corymb_broadcast_wait(reader, 1000000000, &ready));
    CHECK(!ready);
    OK(corymb_broadcast_ring_memory(same, &count));
    CHECK(count > 0);
    OK(corymb_broadcast_reader_free(&reader));
    OK(corymb_broadcast_ring_free(&ring));
    OK(corymb_broadcast_ring_free(&same));
    CHECK(corymb_broadcast_reader_number(NULL) == -1 && corymb_broadcast_last(NULL) == 0);
    close(descriptor);
}

void check_messages(void) {
    mailboxes();
    broadcast_ring();
    meet_by_name();
}

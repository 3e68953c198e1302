// SPDX-License-Identifier: Apache-2.0
// Broadcast rings: one publishes, many read. Part of <corymb.h>; docs/reference/messages.md states
// the guarantees.
#pragma once

#include <corymb/c/handles.h>
#include <corymb/c/options.h>

#ifdef __cplusplus
extern "C" {
#endif

/// A ring, thread-safe; and its ends, each used by one thread at a time.
typedef struct corymb_broadcast_ring corymb_broadcast_ring;
typedef struct corymb_broadcast_publisher corymb_broadcast_publisher;
typedef struct corymb_broadcast_reader corymb_broadcast_reader;

/// The treatment of a reader that is a whole ring behind.
typedef enum corymb_broadcast_policy {
    CORYMB_BROADCAST_BLOCK = 0,   ///< The publisher waits for it.
    CORYMB_BROADCAST_DROP = 1,    ///< The publisher goes on without it, and it is told.
    CORYMB_BROADCAST_OVERRUN = 2, ///< The reader misses messages and is told their number.
    CORYMB_BROADCAST_POLICY_MAX = 0x7FFFFFFF
} corymb_broadcast_policy;

/// The first message of a reader.
typedef enum corymb_broadcast_start {
    CORYMB_BROADCAST_NEXT = 0, ///< The next one that is published.
    CORYMB_BROADCAST_LAST = 1, ///< The last one before it joined, if there is one, then the next.
    CORYMB_BROADCAST_START_MAX = 0x7FFFFFFF
} corymb_broadcast_start;

/// Begin with corymb_broadcast_options_init, which sets the defaults.
typedef struct corymb_broadcast_options {
    size_t struct_size;
    size_t message_bytes;    ///< Longest message; 56 by default.
    size_t slots;            ///< Messages that the ring holds; 256 by default.
    int readers;             ///< Readers at the same time; 64 by default.
    int between_processes;   ///< Not 0: the memory can be shared with other processes.
    int64_t deadline_ns;     ///< Longest wait of corymb_broadcast_publish; 0: one minute.
    corymb_wait_policy wait; ///< For waits of publisher and readers.
    /// Processes of one user that give this name meet in one group; the first one makes it with its
    /// options. Implies `between_processes`. NULL: no name.
    const char* name;
} corymb_broadcast_options;

static inline void
corymb_broadcast_options_init(corymb_broadcast_options* options) CORYMB_NOEXCEPT {
    if (!options) {
        return;
    }
    memset(options, 0, sizeof *options);
    options->struct_size = sizeof *options;
    options->message_bytes = 56;
    options->slots = 256;
    options->readers = 64;
}

typedef struct corymb_broadcast_message {
    const void* data; ///< The reader's own copy, until the handler returns.
    size_t bytes;
    uint64_t number; ///< From 1, in the order of publishing.
    uint64_t missed; ///< Messages before it that this reader was too late for.
} corymb_broadcast_message;

/// How far a reader is.
typedef struct corymb_broadcast_reader_info {
    int reader;
    uint32_t pid;
    corymb_broadcast_policy policy;
    int is_dropped;
    int has_ended; ///< The reader's process has ended.
    uint64_t last; ///< Number of the last message that it has told to have read.
    uint64_t lag;  ///< Messages published since.
} corymb_broadcast_reader_info;

/// Gets a message; must not use the reader. A status other than CORYMB_OK ends the probe with that
/// status; the message counts as read.
typedef corymb_status (*corymb_broadcast_handler)(const corymb_broadcast_message* message,
                                                  void* context);

/// `options` NULL: defaults.
CORYMB_EXPORT corymb_status corymb_broadcast_ring_create(
    const corymb_broadcast_options* options, corymb_broadcast_ring** ring) CORYMB_NOEXCEPT;
/// The ring behind a descriptor, inherited or sent, which stays the caller's.
CORYMB_EXPORT corymb_status corymb_broadcast_ring_open(int descriptor, corymb_broadcast_ring** ring)
    CORYMB_NOEXCEPT;
/// A descriptor that child processes inherit and the caller closes.
CORYMB_MAKE_DESCRIPTOR(broadcast_ring, CORYMB_HANDLE_BROADCAST_RING)
/// Makes this thread the publisher. If the process of an earlier one has ended without closing the
/// ring, this one goes on after its last message.
CORYMB_EXPORT corymb_status corymb_broadcast_ring_publisher(
    corymb_broadcast_ring* ring, corymb_broadcast_publisher** publisher) CORYMB_NOEXCEPT;
/// Makes this thread a reader from now on.
CORYMB_EXPORT corymb_status corymb_broadcast_ring_reader(
    corymb_broadcast_ring* ring, corymb_broadcast_policy policy, corymb_broadcast_start start,
    corymb_broadcast_reader** reader) CORYMB_NOEXCEPT;
/// All readers: how many in `*count`, up to `room` of them in `infos`.
CORYMB_EXPORT corymb_status corymb_broadcast_ring_readers(const corymb_broadcast_ring* ring,
                                                          corymb_broadcast_reader_info* infos,
                                                          size_t room,
                                                          size_t* count) CORYMB_NOEXCEPT;
/// Bytes of shared memory.
CORYMB_MEMORY(broadcast_ring, CORYMB_HANDLE_BROADCAST_RING)
/// Gives the ring back; its ends go on. Sets *ring to NULL; so do all functions of this kind.
CORYMB_FREE(broadcast_ring, CORYMB_HANDLE_BROADCAST_RING)

/// Waits for readers that block, at most `limit_ns` (0: the ring's deadline); then CORYMB_TIMEOUT,
/// whose text and ranks name them, and nothing was published.
CORYMB_EXPORT corymb_status corymb_broadcast_publish(corymb_broadcast_publisher* publisher,
                                                     const void* data, size_t bytes,
                                                     int64_t limit_ns) CORYMB_NOEXCEPT;
/// Without waiting: `*published` is 0 when a reader that blocks is a whole ring behind.
CORYMB_EXPORT corymb_status corymb_broadcast_try_publish(corymb_broadcast_publisher* publisher,
                                                         const void* data, size_t bytes,
                                                         int* published) CORYMB_NOEXCEPT;
/// How many messages were published; 0 when there is no such publisher.
CORYMB_NUMBER(broadcast_published, uint64_t, corymb_broadcast_publisher,
              CORYMB_HANDLE_BROADCAST_PUBLISHER, CORYMB_NUMBER_MESSAGE, 0)
/// Goes on without a reader, whatever its policy.
CORYMB_EXPORT corymb_status corymb_broadcast_drop(corymb_broadcast_publisher* publisher,
                                                  int reader) CORYMB_NOEXCEPT;
/// Readers that were dropped or have ended since the last call: how many in `*count`, up to `room`
/// of them in `infos`; the others are lost.
CORYMB_EXPORT corymb_status corymb_broadcast_take_dropped(corymb_broadcast_publisher* publisher,
                                                          corymb_broadcast_reader_info* infos,
                                                          size_t room,
                                                          size_t* count) CORYMB_NOEXCEPT;
/// Closes the ring: readers still get its messages.
CORYMB_FREE(broadcast_publisher, CORYMB_HANDLE_BROADCAST_PUBLISHER)

/// Unique among the readers of the moment; -1 when there is no such reader.
CORYMB_NUMBER(broadcast_reader_number, int, corymb_broadcast_reader, CORYMB_HANDLE_BROADCAST_READER,
              CORYMB_NUMBER_RANK, -1)
/// Calls `handler` for the messages that are there, at most `most` (SIZE_MAX: all); how many in
/// `*count`, which may be NULL. CORYMB_TIMEOUT when the publisher has dropped this reader.
CORYMB_EXPORT corymb_status corymb_broadcast_probe(corymb_broadcast_reader* reader,
                                                   corymb_broadcast_handler handler, void* context,
                                                   size_t most, size_t* count) CORYMB_NOEXCEPT;
/// Returns when a message is there, `*ready` 1; `*ready` 0: `limit_ns` has passed, or the ring was
/// closed. CORYMB_TEAM_BROKEN when the publisher's process has ended without closing it.
CORYMB_EXPORT corymb_status corymb_broadcast_wait(corymb_broadcast_reader* reader, int64_t limit_ns,
                                                  int* ready) CORYMB_NOEXCEPT;
/// `*at_end` 1: the publisher has closed the ring and everything is read.
CORYMB_EXPORT corymb_status corymb_broadcast_at_end(corymb_broadcast_reader* reader,
                                                    int* at_end) CORYMB_NOEXCEPT;
/// Number of the last message that was read or missed; 0 when there is no such reader.
CORYMB_NUMBER(broadcast_last, uint64_t, corymb_broadcast_reader, CORYMB_HANDLE_BROADCAST_READER,
              CORYMB_NUMBER_MESSAGE, 0)
/// Leaves.
CORYMB_FREE(broadcast_reader, CORYMB_HANDLE_BROADCAST_READER)

#ifdef __cplusplus
}
#endif

// SPDX-License-Identifier: Apache-2.0
// Mailboxes: small unrequested messages. Part of <corymb.h>; docs/reference/messages.md states the
// guarantees.
#pragma once

#include <corymb/c/handles.h>
#include <corymb/c/options.h>

#ifdef __cplusplus
extern "C" {
#endif

/// The mailboxes of a number of threads, of one process or of several; thread-safe.
typedef struct corymb_mailbox_group corymb_mailbox_group;
/// The handle of one member, used by one thread at a time.
typedef struct corymb_mailbox corymb_mailbox;

typedef enum corymb_mailbox_protocol {
    /// The fastest on `machine_json`; without a model `ring` in groups of up to 16, `nvp` in larger
    /// ones.
    CORYMB_MAILBOX_AUTOMATIC = 0,
    CORYMB_MAILBOX_RING = 1,
    CORYMB_MAILBOX_NVP = 2,
    CORYMB_MAILBOX_SRBP = 3,
    CORYMB_MAILBOX_PROTOCOL_MAX = 0x7FFFFFFF
} corymb_mailbox_protocol;

/// Begin with corymb_mailbox_options_init, which sets the defaults.
typedef struct corymb_mailbox_options {
    size_t struct_size;
    corymb_mailbox_protocol protocol;
    corymb_wait_policy wait;  ///< For corymb_mailbox_wait.
    size_t message_bytes;     ///< Longest message; 56 by default.
    size_t capacity;          ///< Unread messages of one member at one other; 64 by default.
    int between_processes;    ///< Not 0: the memory can be shared with other processes.
    const char* machine_json; ///< For `automatic`: a model (docs/explain/model.md), or NULL.
    /// Processes of one user that give this name meet in one group; the first one makes it with its
    /// options. Implies `between_processes`. NULL: no name.
    const char* name;
} corymb_mailbox_options;

static inline void corymb_mailbox_options_init(corymb_mailbox_options* options) CORYMB_NOEXCEPT {
    if (!options) {
        return;
    }
    memset(options, 0, sizeof *options);
    options->struct_size = sizeof *options;
    options->message_bytes = 56;
    options->capacity = 64;
}

/// Gets a message in place; the message is gone afterwards. The handler may send, but not probe,
/// wait or free the mailbox. A status other than CORYMB_OK ends the probe with that status; the
/// message counts as received.
typedef corymb_status (*corymb_message_handler)(int from, const void* message, size_t bytes,
                                                void* context);
/// Writes a message of at most `room` bytes to `place`; how many bytes it has. It may not use the
/// mailbox.
typedef size_t (*corymb_message_writer)(void* place, size_t room, void* context);

/// `options` NULL: defaults.
CORYMB_EXPORT corymb_status corymb_mailbox_group_create(
    int size, const corymb_mailbox_options* options, corymb_mailbox_group** group) CORYMB_NOEXCEPT;
/// The group behind a descriptor, inherited or sent, which stays the caller's.
CORYMB_EXPORT corymb_status corymb_mailbox_group_open(int descriptor,
                                                      corymb_mailbox_group** group) CORYMB_NOEXCEPT;
/// A descriptor that child processes inherit and the caller closes.
CORYMB_MAKE_DESCRIPTOR(mailbox_group, CORYMB_HANDLE_MAILBOX_GROUP)
/// Makes this thread `rank`. One that has left or died can be taken again, but not with `srbp`.
CORYMB_EXPORT corymb_status corymb_mailbox_group_join(corymb_mailbox_group* group, int rank,
                                                      corymb_mailbox** mailbox) CORYMB_NOEXCEPT;
/// The protocol that was taken, never `automatic`; and the reason, to be freed by corymb_free.
CORYMB_EXPORT corymb_status corymb_mailbox_group_protocol(
    const corymb_mailbox_group* group, corymb_mailbox_protocol* protocol) CORYMB_NOEXCEPT;
CORYMB_EXPORT corymb_status corymb_mailbox_group_reason(const corymb_mailbox_group* group,
                                                        char** text) CORYMB_NOEXCEPT;
/// Bytes of shared memory.
CORYMB_MEMORY(mailbox_group, CORYMB_HANDLE_MAILBOX_GROUP)
/// Members that have joined go on. Sets *group to NULL; so do all functions of this kind.
CORYMB_FREE(mailbox_group, CORYMB_HANDLE_MAILBOX_GROUP)

/// -1 and 0 when there is no such mailbox.
CORYMB_NUMBER(mailbox_rank, int, corymb_mailbox, CORYMB_HANDLE_MAILBOX, CORYMB_NUMBER_RANK, -1)
CORYMB_NUMBER(mailbox_size, int, corymb_mailbox, CORYMB_HANDLE_MAILBOX, CORYMB_NUMBER_SIZE, 0)
/// Copies a message into the channel, without waiting. `*sent` is 0 when there is no room until
/// `to` probes.
CORYMB_EXPORT corymb_status corymb_mailbox_send(corymb_mailbox* mailbox, int to, const void* data,
                                                size_t bytes, int* sent) CORYMB_NOEXCEPT;
/// Returns when there is room for a message to `to`, `*room` 1, or after `limit_ns`, `*room` 0.
CORYMB_EXPORT corymb_status corymb_mailbox_wait_for_room(corymb_mailbox* mailbox, int to,
                                                         int64_t limit_ns,
                                                         int* room) CORYMB_NOEXCEPT;
/// corymb_mailbox_send that waits for room; `*sent` is 0 when there is none after `limit_ns`.
CORYMB_EXPORT corymb_status corymb_mailbox_send_within(corymb_mailbox* mailbox, int to,
                                                       const void* data, size_t bytes,
                                                       int64_t limit_ns, int* sent) CORYMB_NOEXCEPT;
/// Sends as many of `count` messages as there is room for, from the first on; their number in
/// `*sent`.
CORYMB_EXPORT corymb_status corymb_mailbox_send_batch(corymb_mailbox* mailbox, int to,
                                                      const void* const* messages,
                                                      const size_t* bytes, size_t count,
                                                      size_t* sent) CORYMB_NOEXCEPT;
/// Lets `writer` write a message of up to `bytes` bytes in the channel; when there is no room it is
/// not called.
CORYMB_EXPORT corymb_status corymb_mailbox_send_in_place(corymb_mailbox* mailbox, int to,
                                                         size_t bytes, corymb_message_writer writer,
                                                         void* context, int* sent) CORYMB_NOEXCEPT;
/// Calls `handler` for the messages that are there, at most `most` (SIZE_MAX: all); how many in
/// `*count`, which may be NULL.
CORYMB_EXPORT corymb_status corymb_mailbox_probe(corymb_mailbox* mailbox,
                                                 corymb_message_handler handler, void* context,
                                                 size_t most, size_t* count) CORYMB_NOEXCEPT;
/// Returns when there is a message, `*ready` 1, or after `limit_ns`, `*ready` 0. CORYMB_TEAM_BROKEN
/// once for each member whose process has ended with its mailbox open.
CORYMB_EXPORT corymb_status corymb_mailbox_wait(corymb_mailbox* mailbox, int64_t limit_ns,
                                                int* ready) CORYMB_NOEXCEPT;
/// `*left` is 1 when `member` has closed its mailbox, or its process is known to have ended.
CORYMB_EXPORT corymb_status corymb_mailbox_has_left(const corymb_mailbox* mailbox, int member,
                                                    int* left) CORYMB_NOEXCEPT;
/// Closes the mailbox: unread messages are lost, and a later send to it fails.
CORYMB_FREE(mailbox, CORYMB_HANDLE_MAILBOX)

#ifdef __cplusplus
}
#endif

// SPDX-License-Identifier: Apache-2.0
// Active messages: requests between the members of a group of mailboxes, and pointers to memory
// that another rank offers. Part of <corymb.h>; docs/messages.md states the guarantees.
#pragma once

#include <corymb/c/handles.h>
#include <corymb/c/mailboxes.h>

#ifdef __cplusplus
extern "C" {
#endif

/// The requests and handlers of one member, upon its mailbox; used by one thread at a time.
typedef struct corymb_active_messages corymb_active_messages;
/// A request, of the thread that made it.
typedef struct corymb_active_call corymb_active_call;

/// A place in memory that a rank has offered; equal on all ranks, also of other processes. May be
/// sent in messages. To go on in that memory, add bytes to `offset`.
typedef struct corymb_global_address {
    int owner; ///< Below 0: null.
    uint32_t region;
    uint64_t offset; ///< Bytes.
} corymb_global_address;

/// Handlers have numbers below.
enum { CORYMB_ACTIVE_HANDLERS_MAX = 0xff00 };

/// Runs at the rank that was asked, in the middle of its poll, serve, test or wait. Writes the
/// answer to `answer`, at most `room` bytes, and its length to `*answer_bytes`, which is 0 before.
/// It may begin calls, but not poll or wait, nor free the object that it runs in. A status other
/// than CORYMB_OK is returned by the wait of the asking rank.
typedef corymb_status (*corymb_active_handler)(int from, const void* argument, size_t bytes,
                                               void* answer, size_t room, size_t* answer_bytes,
                                               void* context);

/// Takes the mailbox and sets `*mailbox` to NULL; a call that fails leaves it. `deadline_ns` is the
/// longest wait that is given no limit; 0: a minute. CORYMB_INVALID_ARGUMENT for messages of 16
/// bytes or fewer.
CORYMB_EXPORT corymb_status corymb_active_messages_create(
    corymb_mailbox** mailbox, int64_t deadline_ns, corymb_active_messages** active) CORYMB_NOEXCEPT;
/// -1 and 0 when there is no such thing.
CORYMB_NUMBER(active_messages_rank, int, corymb_active_messages, CORYMB_HANDLE_ACTIVE_MESSAGES,
              CORYMB_NUMBER_RANK, -1)
CORYMB_NUMBER(active_messages_size, int, corymb_active_messages, CORYMB_HANDLE_ACTIVE_MESSAGES,
              CORYMB_NUMBER_SIZE, 0)
/// Longest argument, and longest answer. The value of a put has at most 16 bytes less, and both
/// values of a compare_exchange together.
CORYMB_NUMBER(active_messages_bytes_max, size_t, corymb_active_messages,
              CORYMB_HANDLE_ACTIVE_MESSAGES, CORYMB_NUMBER_BYTES_MAX, 0)
/// Requests with this number run `handler(..., context)` here. Replaces the one before.
CORYMB_EXPORT corymb_status corymb_active_messages_on(corymb_active_messages* active,
                                                      uint16_t number,
                                                      corymb_active_handler handler,
                                                      void* context) CORYMB_NOEXCEPT;
/// Has the handler of this number run at `to`, which may be this rank. Waits for room, at most the
/// deadline. `call` NULL: the answer is not wanted.
CORYMB_EXPORT corymb_status corymb_active_messages_call(corymb_active_messages* active, int to,
                                                        uint16_t number, const void* argument,
                                                        size_t bytes,
                                                        corymb_active_call** call) CORYMB_NOEXCEPT;
/// Serves the requests of others; `*served` (may be NULL) is their number. `serve` waits for a
/// request when there is none, at most `limit_ns`.
CORYMB_EXPORT corymb_status corymb_active_messages_poll(corymb_active_messages* active,
                                                        size_t* served) CORYMB_NOEXCEPT;
CORYMB_EXPORT corymb_status corymb_active_messages_serve(corymb_active_messages* active,
                                                         int64_t limit_ns,
                                                         size_t* served) CORYMB_NOEXCEPT;
/// Closes the mailbox; calls that are under way end with CORYMB_INVALID_ARGUMENT.
CORYMB_FREE(active_messages, CORYMB_HANDLE_ACTIVE_MESSAGES)

/// Puts the answer into the `room` bytes at `answer` and its length into `*bytes` (may be NULL), or
/// drops it when `answer` is NULL. Serves others' requests meanwhile. Whatever it returns `*call`
/// is NULL then, but after CORYMB_TIMEOUT because of `limit_ns` (0: the deadline): the call goes
/// on. CORYMB_MISMATCH for an answer that is longer than `room`, which is lost.
CORYMB_EXPORT corymb_status corymb_active_call_wait(corymb_active_call** call, int64_t limit_ns,
                                                    void* answer, size_t room,
                                                    size_t* bytes) CORYMB_NOEXCEPT;
/// Whether a wait would return at once. Polls.
CORYMB_EXPORT corymb_status corymb_active_call_test(corymb_active_call* call,
                                                    int* done) CORYMB_NOEXCEPT;
/// Nobody waits for the answer any more; the handler still runs.
CORYMB_FREE(active_call, CORYMB_HANDLE_ACTIVE_CALL)

/// Offers these bytes: others may use them, while this rank polls, until they are withdrawn.
CORYMB_EXPORT corymb_status
corymb_active_messages_offer(corymb_active_messages* active, void* memory, size_t bytes,
                             corymb_global_address* address) CORYMB_NOEXCEPT;
/// Before the memory is freed.
CORYMB_EXPORT corymb_status corymb_active_messages_withdraw(
    corymb_active_messages* active, corymb_global_address address) CORYMB_NOEXCEPT;
/// Accesses `bytes` bytes at the owner. They wait as corymb_active_call_wait;
/// CORYMB_INVALID_ARGUMENT for an address that is out of range, withdrawn or null.
CORYMB_EXPORT corymb_status corymb_active_messages_get(corymb_active_messages* active,
                                                       corymb_global_address from, void* to,
                                                       size_t bytes,
                                                       int64_t limit_ns) CORYMB_NOEXCEPT;
CORYMB_EXPORT corymb_status corymb_active_messages_put(corymb_active_messages* active,
                                                       corymb_global_address to, const void* value,
                                                       size_t bytes,
                                                       int64_t limit_ns) CORYMB_NOEXCEPT;
/// Writes `desired` if the present bytes equal `expected`; `was` gets the bytes before.
CORYMB_EXPORT corymb_status corymb_active_messages_compare_exchange(
    corymb_active_messages* active, corymb_global_address at, const void* expected,
    const void* desired, void* was, size_t bytes, int64_t limit_ns) CORYMB_NOEXCEPT;

#ifdef __cplusplus
}
#endif

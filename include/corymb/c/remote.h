// SPDX-License-Identifier: Apache-2.0
// Calls of functions and objects of other ranks, by names. They work between programs in C, C++ and
// Python. Part of <corymb.h>; docs/reference/remote.md states the guarantees.
#pragma once

#include <corymb/c/handles.h>
#include <corymb/c/options.h>

#ifdef __cplusplus
extern "C" {
#endif

/// Ranks that call each other: threads of one process or of several; thread-safe.
typedef struct corymb_remote_group corymb_remote_group;
/// A rank of such a group, used by one thread at a time.
typedef struct corymb_remote corymb_remote;
/// A call that is under way, of the thread that began it.
typedef struct corymb_remote_call corymb_remote_call;
/// Whom to answer after the handler has returned, of the thread of its rank.
typedef struct corymb_remote_reply corymb_remote_reply;

/// Begin with corymb_remote_options_init, which sets the defaults.
typedef struct corymb_remote_options {
    size_t struct_size;
    corymb_wait_policy wait;
    size_t message_bytes;  ///< Longer calls are several messages; 56 by default, 32 at least.
    size_t capacity;       ///< Messages on their way from one rank to one other; 128 by default.
    int between_processes; ///< Not 0: the memory can be shared with other processes.
    /// Processes of one user that give this name meet in one group. Implies `between_processes`.
    const char* name;
} corymb_remote_options;

static inline void corymb_remote_options_init(corymb_remote_options* options) CORYMB_NOEXCEPT {
    if (!options) {
        return;
    }
    memset(options, 0, sizeof *options);
    options->struct_size = sizeof *options;
    options->message_bytes = 56;
    options->capacity = 128;
}

/// A call as its handler gets it. All of it is gone when the handler has returned.
typedef struct corymb_remote_request {
    int from;
    const char* name; ///< The function, or the method.
    const void* argument;
    size_t bytes;
    void* call; ///< The library's.
} corymb_remote_request;

/// Runs in the midst of what serves calls. It must be short: it may begin calls, but not wait, nor
/// free calls or the rank. If it neither answers nor keeps the call for later, the answer is empty.
/// The caller gets a status other than CORYMB_OK.
typedef corymb_status (*corymb_remote_handler)(corymb_remote_request* request, void* context);

/// What makes, calls and ends the objects of a class. All run as handlers.
typedef struct corymb_remote_class {
    /// Makes an object of the request's argument and puts it into `*object`.
    corymb_status (*make)(corymb_remote_request* request, void** object);
    /// Runs the method that the request names.
    corymb_status (*call)(void* object, corymb_remote_request* request);
    void (*end)(void* object);
} corymb_remote_class;

/// An object of some rank. A value, which may be copied and sent.
typedef struct corymb_remote_object {
    int rank; ///< Below 0: none.
    uint64_t number;
} corymb_remote_object;

/// `options` NULL: defaults.
CORYMB_EXPORT corymb_status corymb_remote_group_create(int size,
                                                       const corymb_remote_options* options,
                                                       corymb_remote_group** group) CORYMB_NOEXCEPT;
/// The group behind a descriptor, inherited or sent, which stays the caller's.
CORYMB_EXPORT corymb_status corymb_remote_group_open(int descriptor,
                                                     corymb_remote_group** group) CORYMB_NOEXCEPT;
/// A descriptor that child processes inherit and the caller closes.
CORYMB_MAKE_DESCRIPTOR(remote_group, CORYMB_HANDLE_REMOTE_GROUP)
/// Makes this thread `rank`, which nobody was before.
CORYMB_EXPORT corymb_status corymb_remote_group_join(corymb_remote_group* group, int rank,
                                                     corymb_remote** own) CORYMB_NOEXCEPT;
/// Ranks that have joined go on.
CORYMB_FREE(remote_group, CORYMB_HANDLE_REMOTE_GROUP)

/// -1 and 0 when there is no such rank.
CORYMB_NUMBER(remote_rank, int, corymb_remote, CORYMB_HANDLE_REMOTE, CORYMB_NUMBER_RANK, -1)
CORYMB_NUMBER(remote_size, int, corymb_remote, CORYMB_HANDLE_REMOTE, CORYMB_NUMBER_SIZE, 0)
/// Leaves the group: calls to this rank fail from now on. Its objects end.
CORYMB_FREE(remote, CORYMB_HANDLE_REMOTE)

/// Calls of `name` run `handler(request, context)` here. Offer all names before calls are served.
CORYMB_EXPORT corymb_status corymb_remote_offer(corymb_remote* own, const char* name,
                                                corymb_remote_handler handler,
                                                void* context) CORYMB_NOEXCEPT;
/// Others may make objects of this class here, by its name.
CORYMB_EXPORT corymb_status corymb_remote_offer_class(
    corymb_remote* own, const char* name, const corymb_remote_class* kind) CORYMB_NOEXCEPT;

/// In a handler, once: sends the answer.
CORYMB_EXPORT corymb_status corymb_remote_answer(corymb_remote_request* request, const void* answer,
                                                 size_t bytes) CORYMB_NOEXCEPT;
/// In a handler, in place of an answer: keeps the call.
CORYMB_EXPORT corymb_status corymb_remote_later(corymb_remote_request* request,
                                                corymb_remote_reply** reply) CORYMB_NOEXCEPT;
/// Sends the answer of a call that was kept. With another status than CORYMB_OK the caller gets it,
/// and the answer is its text. Sets `*reply` to NULL.
CORYMB_EXPORT corymb_status corymb_remote_reply_send(corymb_remote_reply** reply,
                                                     corymb_status status, const void* answer,
                                                     size_t bytes) CORYMB_NOEXCEPT;
/// Whether the caller waits no more.
CORYMB_EXPORT corymb_status corymb_remote_reply_is_stopped(const corymb_remote_reply* reply,
                                                           int* stopped) CORYMB_NOEXCEPT;
/// The caller gets CORYMB_TEAM_BROKEN.
CORYMB_FREE(remote_reply, CORYMB_HANDLE_REMOTE_REPLY)

/// Calls a function that rank `to` offers; it may be this rank. Never waits. `call` NULL: nobody
/// learns of the end.
CORYMB_EXPORT corymb_status corymb_remote_begin(corymb_remote* own, int to, const char* name,
                                                const void* argument, size_t bytes,
                                                corymb_remote_call** call) CORYMB_NOEXCEPT;
/// Makes an object of a class that rank `to` offers. The answer is a corymb_remote_object.
CORYMB_EXPORT corymb_status corymb_remote_create(corymb_remote* own, int to, const char* kind,
                                                 const void* argument, size_t bytes,
                                                 corymb_remote_call** call) CORYMB_NOEXCEPT;
/// Calls a method of `count` objects: `calls[i]` of `objects[i]`. Begins no call if one cannot be
/// begun. `calls` NULL: nobody learns of the ends.
CORYMB_EXPORT corymb_status corymb_remote_call_objects(corymb_remote* own,
                                                       const corymb_remote_object* objects,
                                                       size_t count, const char* method,
                                                       const void* argument, size_t bytes,
                                                       corymb_remote_call** calls) CORYMB_NOEXCEPT;
/// Ends an object. The answer is empty.
CORYMB_EXPORT corymb_status corymb_remote_destroy(corymb_remote* own, corymb_remote_object object,
                                                  corymb_remote_call** call) CORYMB_NOEXCEPT;

/// Puts the answer into the `room` bytes at `answer` and its length into `*bytes` (may be NULL), or
/// drops it when `answer` is NULL. Serves others meanwhile. Whatever it returns, `*call` is NULL
/// then, but after CORYMB_TIMEOUT because of `limit_ns` (0: none): the call goes on.
/// CORYMB_UNKNOWN_NAME: the rank offers no such function or class. CORYMB_MISMATCH: the answer is
/// longer than `room`, and is lost.
CORYMB_EXPORT corymb_status corymb_remote_call_wait(corymb_remote_call** call, int64_t limit_ns,
                                                    void* answer, size_t room,
                                                    size_t* bytes) CORYMB_NOEXCEPT;
/// Waits for all of the calls. Puts the answers, which have at most `room` bytes each, into
/// `answers`, one every `room` bytes; NULL: drops them. The first failure in the order of the calls
/// is returned, when all have ended.
CORYMB_EXPORT corymb_status corymb_remote_call_wait_all(corymb_remote_call** calls, size_t count,
                                                        int64_t limit_ns, void* answers,
                                                        size_t room) CORYMB_NOEXCEPT;
/// Whether a wait would return at once. Serves what is there.
CORYMB_EXPORT corymb_status corymb_remote_call_test(corymb_remote_call* call,
                                                    int* done) CORYMB_NOEXCEPT;
/// Asks the function that was called to stop. Nobody waits for the answer any more.
CORYMB_FREE(remote_call, CORYMB_HANDLE_REMOTE_CALL)

/// Serves the calls of others; when there are none, waits for them, at most `limit_ns`. `*served`
/// (may be NULL) is their number.
CORYMB_EXPORT corymb_status corymb_remote_serve(corymb_remote* own, int64_t limit_ns,
                                                size_t* served) CORYMB_NOEXCEPT;
/// A descriptor for epoll, which stays the rank's: when it is readable, call corymb_remote_serve
/// with a limit of 0.
CORYMB_EXPORT corymb_status corymb_remote_descriptor(corymb_remote* own,
                                                     int* descriptor) CORYMB_NOEXCEPT;
/// Serves others until all ranks have called this or have gone.
CORYMB_EXPORT corymb_status corymb_remote_end(corymb_remote* own) CORYMB_NOEXCEPT;

#ifdef __cplusplus
}
#endif

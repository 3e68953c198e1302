// SPDX-License-Identifier: Apache-2.0
// What handles of all kinds are asked for, and how they are given back. Part of <corymb.h>.
#pragma once

#include <corymb/c/status.h>

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/// Kinds of handles.
typedef enum corymb_handle_kind {
    CORYMB_HANDLE_TEAM = 0,
    CORYMB_HANDLE_REQUEST = 1,
    CORYMB_HANDLE_THREAD_TEAM = 2,
    CORYMB_HANDLE_PROCESS_TEAM = 3,
    CORYMB_HANDLE_CALL = 4,
    CORYMB_HANDLE_MAILBOX_GROUP = 5,
    CORYMB_HANDLE_MAILBOX = 6,
    CORYMB_HANDLE_BROADCAST_RING = 7,
    CORYMB_HANDLE_BROADCAST_PUBLISHER = 8,
    CORYMB_HANDLE_BROADCAST_READER = 9,
    CORYMB_HANDLE_MULTICAST_GROUP = 10,
    CORYMB_HANDLE_MULTICAST = 11,
    CORYMB_HANDLE_MULTICAST_TOKEN = 12,
    CORYMB_HANDLE_REMOTE_GROUP = 13,
    CORYMB_HANDLE_REMOTE = 14,
    CORYMB_HANDLE_REMOTE_CALL = 15,
    CORYMB_HANDLE_REMOTE_REPLY = 16,
    CORYMB_HANDLE_MAX = 0x7FFFFFFF
} corymb_handle_kind;

/// Gives the handle at `*handle` back, which is of this kind, and sets it to NULL; nothing
/// for NULL. What else happens stands at the function of the kind, as corymb_team_free.
CORYMB_EXPORT corymb_status corymb_give_back(corymb_handle_kind kind,
                                             void** handle) CORYMB_NOEXCEPT;

/// Numbers that a handle may be asked for.
typedef enum corymb_number_kind {
    CORYMB_NUMBER_RANK = 0, ///< The handle's own rank, or number among readers.
    CORYMB_NUMBER_SIZE = 1, ///< Ranks.
    CORYMB_NUMBER_MEMBERS = 2,
    CORYMB_NUMBER_IS_MEMBER = 3,
    CORYMB_NUMBER_MESSAGE = 4, ///< Number of the last message.
    CORYMB_NUMBER_KIND_MAX = 0x7FFFFFFF
} corymb_number_kind;

/// A number of a handle of this kind. `otherwise`: there is no such handle, or it has no such
/// number. Sets no error.
CORYMB_EXPORT int64_t corymb_number(corymb_handle_kind kind, const void* handle,
                                    corymb_number_kind number, int64_t otherwise) CORYMB_NOEXCEPT;
/// Bytes of the shared memory that teams, mailbox groups and broadcast rings have.
CORYMB_EXPORT corymb_status corymb_memory(corymb_handle_kind kind, const void* handle,
                                          size_t* bytes) CORYMB_NOEXCEPT;
/// A descriptor of a mailbox group, broadcast ring, multicast group or remote group. Child
/// processes inherit it, and the caller closes it.
CORYMB_EXPORT corymb_status corymb_make_descriptor(corymb_handle_kind kind, const void* handle,
                                                   int* descriptor) CORYMB_NOEXCEPT;

#ifdef __cplusplus
#define CORYMB_HANDLE_FROM(type, given) static_cast<type*>(given)
#define CORYMB_NUMBER_AS(type, number) static_cast<type>(number)
#else
#define CORYMB_HANDLE_FROM(type, given) (given)
#define CORYMB_NUMBER_AS(type, number) ((type)(number))
#endif

/// Defines corymb_NAME, which gives a number of a `handle_type`.
#define CORYMB_NUMBER(name, type, handle_type, kind, number, otherwise)                            \
    static inline type corymb_##name(const handle_type* handle) CORYMB_NOEXCEPT {                  \
        return CORYMB_NUMBER_AS(type, corymb_number(kind, handle, number, otherwise));             \
    }
/// Defines corymb_NAME_memory and corymb_NAME_make_descriptor of a corymb_NAME.
#define CORYMB_MEMORY(name, kind)                                                                  \
    static inline corymb_status corymb_##name##_memory(const corymb_##name* handle, size_t* bytes) \
        CORYMB_NOEXCEPT {                                                                          \
        return corymb_memory(kind, handle, bytes);                                                 \
    }
#define CORYMB_MAKE_DESCRIPTOR(name, kind)                                                         \
    static inline corymb_status corymb_##name##_make_descriptor(const corymb_##name* handle,       \
                                                                int* descriptor) CORYMB_NOEXCEPT { \
        return corymb_make_descriptor(kind, handle, descriptor);                                   \
    }

/// Defines corymb_NAME_free, which gives a corymb_NAME back.
#define CORYMB_FREE(name, kind)                                                                    \
    static inline corymb_status corymb_##name##_free(corymb_##name** handle) CORYMB_NOEXCEPT {     \
        void* given = handle ? *handle : NULL;                                                     \
        const corymb_status status = corymb_give_back(kind, handle ? &given : NULL);               \
        if (handle) {                                                                              \
            *handle = CORYMB_HANDLE_FROM(corymb_##name, given);                                    \
        }                                                                                          \
        return status;                                                                             \
    }

#ifdef __cplusplus
}
#endif

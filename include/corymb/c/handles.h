// SPDX-License-Identifier: Apache-2.0
// How handles are given back. Part of <corymb.h>.
#pragma once

#include <corymb/c/status.h>

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
    CORYMB_HANDLE_ACTIVE_MESSAGES = 7,
    CORYMB_HANDLE_ACTIVE_CALL = 8,
    CORYMB_HANDLE_BROADCAST_RING = 9,
    CORYMB_HANDLE_BROADCAST_PUBLISHER = 10,
    CORYMB_HANDLE_BROADCAST_READER = 11,
    CORYMB_HANDLE_MULTICAST_GROUP = 12,
    CORYMB_HANDLE_MULTICAST = 13,
    CORYMB_HANDLE_MULTICAST_TOKEN = 14,
    CORYMB_HANDLE_MAX = 0x7FFFFFFF
} corymb_handle_kind;

/// Gives the handle at `*handle` back, which is of this kind, and sets it to NULL; nothing
/// for NULL. What else happens stands at the function of the kind, as corymb_team_free.
CORYMB_EXPORT corymb_status corymb_give_back(corymb_handle_kind kind,
                                             void** handle) CORYMB_NOEXCEPT;

#ifdef __cplusplus
#define CORYMB_HANDLE_FROM(type, given) static_cast<type*>(given)
#else
#define CORYMB_HANDLE_FROM(type, given) (given)
#endif

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

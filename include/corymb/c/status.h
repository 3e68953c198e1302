// SPDX-License-Identifier: Apache-2.0
// The outcome of a call, and facts about the library. Part of <corymb.h>.
#pragma once

#include <corymb/export.hpp>
#include <corymb/version.hpp>

#include <stddef.h>

#ifdef __cplusplus
/// Nothing of this interface lets an exception out.
#define CORYMB_NOEXCEPT noexcept
extern "C" {
#else
#define CORYMB_NOEXCEPT
#endif

/// The outcome of a call. Values never change; later versions may add some.
typedef enum corymb_status {
    CORYMB_OK = 0,
    CORYMB_INVALID_ARGUMENT = 1, ///< A parameter breaks the contract of the call.
    CORYMB_UNKNOWN_NAME = 2,     ///< No operation, machine or algorithm has this name.
    CORYMB_INVALID_MODEL = 3,    ///< A machine model is malformed.
    CORYMB_STALE_MODEL = 4,      ///< The model was measured on another machine.
    CORYMB_INVALID_PLAN = 5,     ///< The checker refuses a plan.
    CORYMB_IO = 6,               ///< A file or descriptor could not be read or made.
    CORYMB_UNSUPPORTED = 7,      ///< This machine, container or version does not support it.
    CORYMB_TIMEOUT = 8,          ///< A deadline passed; the ranks blamed did not arrive.
    CORYMB_TEAM_BROKEN = 9,      ///< An operation on this team failed; shrink it or make a new one.
    CORYMB_INTERRUPTED = 10,     ///< The caller asked to stop.
    CORYMB_MISMATCH = 11,        ///< Ranks called different operations, roots, sizes or types.
    CORYMB_OUT_OF_MEMORY = 12,
    /// An exception that the library does not know, or a mistake of the library; the text says
    /// which.
    CORYMB_INTERNAL = 13,
    CORYMB_DEADLOCK = 14, ///< Each waits for another one, and nothing else can end the wait.
    CORYMB_STATUS_MAX = 0x7FFFFFFF
} corymb_status;

/// The lower-case name of a status, such as "invalid_argument"; never NULL.
CORYMB_EXPORT const char* corymb_status_name(corymb_status status) CORYMB_NOEXCEPT;
/// The text of the last call of this thread that failed; "" before the first. Valid until the next
/// call of this thread that fails.
CORYMB_EXPORT const char* corymb_last_error(void) CORYMB_NOEXCEPT;
/// The ranks that the last failure of this thread blames: how many; up to `room` of them are
/// written to `ranks`, which may be NULL when `room` is 0.
CORYMB_EXPORT size_t corymb_last_error_ranks(int* ranks, size_t room) CORYMB_NOEXCEPT;
/// Version of the library that is running, "major.minor.patch"; the macros are of the headers.
CORYMB_EXPORT const char* corymb_version(void) CORYMB_NOEXCEPT;
/// Gives back a string that this interface has made. NULL is nothing.
CORYMB_EXPORT void corymb_free(void* text) CORYMB_NOEXCEPT;
/// CPUs that this process may use, of its affinity mask and its cgroup; at least 1.
CORYMB_EXPORT int corymb_usable_cpus(void) CORYMB_NOEXCEPT;

#ifdef __cplusplus
}
#endif

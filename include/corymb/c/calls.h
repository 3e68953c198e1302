// SPDX-License-Identifier: Apache-2.0
// Blocking collectives that are made again and again. Part of <corymb.h>.
#pragma once

#include <corymb/c/handles.h>
#include <corymb/c/team.h>
#include <corymb/c/types.h>

#ifdef __cplusplus
extern "C" {
#endif

/// A blocking call without its buffers. The library keeps its findings about the arguments, so that
/// a small operation takes less time than by its own function; peers see no difference. A call ends
/// with its team handle at the latest, and is used by one thread at a time, as the handle is.
typedef struct corymb_call corymb_call;

/// Makes a call of `op`, no barrier, with parts of equal lengths. The parameters are those of the
/// operation's own function; a parameter that it does not have is ignored. An operator outlives its
/// calls. Local.
CORYMB_EXPORT corymb_status corymb_call_create(corymb_collective op, size_t count, corymb_type type,
                                               corymb_op with, int root, corymb_team* team,
                                               corymb_call** call) CORYMB_NOEXCEPT;
/// Runs the call. Buffers as in the operation's own function; a buffer that the operation or this
/// rank does not have (a broadcast has `output` only) is best NULL always. Errors are those of that
/// function.
CORYMB_EXPORT corymb_status corymb_call_run(corymb_call* call, const void* input,
                                            void* output) CORYMB_NOEXCEPT;
/// NULL is allowed.
CORYMB_FREE(call, CORYMB_HANDLE_CALL)

#ifdef __cplusplus
}
#endif

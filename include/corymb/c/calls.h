// SPDX-License-Identifier: Apache-2.0
// Blocking collectives that are made again and again. Part of <corymb.h>.
#pragma once

#include <corymb/c/team.h>
#include <corymb/c/types.h>

#ifdef __cplusplus
extern "C" {
#endif

/// All of a blocking call but its buffers. What the library finds out of the rest is kept, so that
/// a small operation takes less time than by its own function; to its peers it is the same. Ends
/// with its team handle at the latest; used by one thread at a time, like that.
typedef struct corymb_call corymb_call;

/// A call of `op`, no barrier, with parts of equal lengths; the parameters are those of its own
/// function, and one that it does not have is not looked at. An operator outlives its calls. Local.
CORYMB_EXPORT corymb_status corymb_call_create(corymb_collective op, size_t count, corymb_type type,
                                               corymb_op with, int root, corymb_team* team,
                                               corymb_call** call) CORYMB_NOEXCEPT;
/// Makes it. Buffers as in its own function; one that the operation or this rank does not have
/// (a broadcast has `output` only) is best NULL always. Errors are those of that function.
CORYMB_EXPORT corymb_status corymb_call_run(corymb_call* call, const void* input,
                                            void* output) CORYMB_NOEXCEPT;
/// NULL is allowed.
CORYMB_EXPORT corymb_status corymb_call_free(corymb_call** call) CORYMB_NOEXCEPT;

#ifdef __cplusplus
}
#endif

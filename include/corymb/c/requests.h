// SPDX-License-Identifier: Apache-2.0
// Functions for an operation under way. Part of <corymb.h>.
#pragma once

#include <corymb/c/handles.h>
#include <corymb/c/team.h>

#ifdef __cplusplus
extern "C" {
#endif

// An operation is completed once: by corymb_wait and its like, or by a corymb_test that says so,
// with the status that the blocking call would have had. Then a nonblocking request is freed and
// the caller's pointer set to NULL, whatever the status; a persistent one can be started again.

/// Looks whether the operation is done; bounded whatever other ranks do.
CORYMB_EXPORT corymb_status corymb_test(corymb_request** request, int* done) CORYMB_NOEXCEPT;
CORYMB_EXPORT corymb_status corymb_wait(corymb_request** request) CORYMB_NOEXCEPT;
/// Completes all that are active; NULL and inactive ones are passed over. Returns at the first
/// error; the requests after it are still to be completed or freed.
CORYMB_EXPORT corymb_status corymb_wait_all(corymb_request** requests,
                                            size_t count) CORYMB_NOEXCEPT;
/// The index from corymb_wait_any when no request is active.
#define CORYMB_NO_REQUEST SIZE_MAX
/// Waits until one of the active requests, which are of one team, is done, and completes it; its
/// index is there also when that ends with an error.
CORYMB_EXPORT corymb_status corymb_wait_any(corymb_request** requests, size_t count,
                                            size_t* index) CORYMB_NOEXCEPT;
/// Takes back a message between two ranks of which nothing has gone on its way: a receive whose
/// message has not come, a send that waits for others. `*cancelled` says whether it was taken back;
/// then the request is as after its completion. If not, complete it as usual. Bounded. A collective
/// is CORYMB_INVALID_ARGUMENT: no rank can leave it alone.
CORYMB_EXPORT corymb_status corymb_cancel(corymb_request** request, int* cancelled) CORYMB_NOEXCEPT;
/// Starts a persistent request once more; bounded.
CORYMB_EXPORT corymb_status corymb_start(corymb_request* request) CORYMB_NOEXCEPT;
/// Starts persistent requests in their order; returns at the first error.
CORYMB_EXPORT corymb_status corymb_start_all(corymb_request** requests,
                                             size_t count) CORYMB_NOEXCEPT;
/// Waits for an operation under way, without its outcome, and gives the request back. NULL is
/// nothing.
CORYMB_FREE(request, CORYMB_HANDLE_REQUEST)
/// Goes on with all operations under way as far as it can at once; bounded. How many are still
/// under way comes in `*under_way`, which may be NULL.
CORYMB_EXPORT corymb_status corymb_progress(corymb_team* team, size_t* under_way) CORYMB_NOEXCEPT;
/// Repeats corymb_progress until no operation is under way.
CORYMB_EXPORT corymb_status corymb_complete_all(corymb_team* team) CORYMB_NOEXCEPT;

#ifdef __cplusplus
}
#endif

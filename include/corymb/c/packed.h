// SPDX-License-Identifier: Apache-2.0
// Operations on data that does not lie in one piece. Part of <corymb.h>.
#pragma once

#include <corymb/c/team.h>
#include <corymb/c/types.h>

#ifdef __cplusplus
extern "C" {
#endif

/// The way of `count` elements out of their places and back. The library packs them into memory of
/// its own before an operation and unpacks them afterwards. So it needs memory for all of them once
/// more, and input and output may share their places.
typedef struct corymb_packed {
    size_t count;
    /// Copies all elements out, in their order. Needed for a buffer that is read.
    void (*pack)(void* context, void* to);
    /// Copies all elements back, in their order. Needed for a buffer that is written.
    void (*unpack)(void* context, const void* from);
    void* context; ///< Handed to both; outlives the operation.
} corymb_packed;

/// Runs a collective with parts of equal lengths, parameters as in its own function. Layouts
/// describe whole buffers; the layout of a buffer that the operation or this rank does not have may
/// be NULL (a broadcast has `output` only). CORYMB_INVALID_ARGUMENT for a barrier, for layouts
/// whose counts do not fit and for a missing function.
CORYMB_EXPORT corymb_status corymb_run_packed(corymb_collective op, const corymb_packed* input,
                                              const corymb_packed* output, corymb_type type,
                                              corymb_op with, int root,
                                              corymb_team* team) CORYMB_NOEXCEPT;
/// As corymb_run_packed, without waiting. Elements are packed now, and unpacked in the corymb_wait
/// or corymb_test that completes the request; a request that is freed or cancelled unpacks nothing.
/// The layouts are copied.
CORYMB_EXPORT corymb_status corymb_start_packed(corymb_collective op, const corymb_packed* input,
                                                const corymb_packed* output, corymb_type type,
                                                corymb_op with, int root, corymb_team* team,
                                                corymb_request** request) CORYMB_NOEXCEPT;
/// A persistent request: it packs at each corymb_start.
CORYMB_EXPORT corymb_status corymb_prepare_packed(corymb_collective op, const corymb_packed* input,
                                                  const corymb_packed* output, corymb_type type,
                                                  corymb_op with, int root, corymb_team* team,
                                                  corymb_request** request) CORYMB_NOEXCEPT;

// Messages between two ranks, in the three forms.
CORYMB_EXPORT corymb_status corymb_send_packed(const corymb_packed* data, corymb_type type, int to,
                                               corymb_team* team) CORYMB_NOEXCEPT;
CORYMB_EXPORT corymb_status corymb_isend_packed(const corymb_packed* data, corymb_type type, int to,
                                                corymb_team* team,
                                                corymb_request** request) CORYMB_NOEXCEPT;
CORYMB_EXPORT corymb_status corymb_send_packed_init(const corymb_packed* data, corymb_type type,
                                                    int to, corymb_team* team,
                                                    corymb_request** request) CORYMB_NOEXCEPT;
CORYMB_EXPORT corymb_status corymb_recv_packed(const corymb_packed* data, corymb_type type,
                                               int from, corymb_team* team) CORYMB_NOEXCEPT;
CORYMB_EXPORT corymb_status corymb_irecv_packed(const corymb_packed* data, corymb_type type,
                                                int from, corymb_team* team,
                                                corymb_request** request) CORYMB_NOEXCEPT;
CORYMB_EXPORT corymb_status corymb_recv_packed_init(const corymb_packed* data, corymb_type type,
                                                    int from, corymb_team* team,
                                                    corymb_request** request) CORYMB_NOEXCEPT;

#ifdef __cplusplus
}
#endif

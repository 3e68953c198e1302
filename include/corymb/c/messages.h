// SPDX-License-Identifier: Apache-2.0
// Messages between two ranks, in their three forms. Part of <corymb.h>.
#pragma once

#include <corymb/c/operation.h>

#ifdef __cplusplus
extern "C" {
#endif

// The k-th message from p to q goes to the k-th receive of q from p, and both name the same number
// of bytes. There are no tags. A send may wait for its receive.

CORYMB_COLLECTIVE(send, (CORYMB_SEND, to, type, CORYMB_NO_OP, data, NULL, count, NULL),
                  const void* data, size_t count, corymb_type type, int to)
CORYMB_COLLECTIVE(recv, (CORYMB_RECV, from, type, CORYMB_NO_OP, NULL, data, count, NULL),
                  void* data, size_t count, corymb_type type, int from)
/// Sends and receives at once, with any two ranks.
CORYMB_EXPORT corymb_status corymb_sendrecv(const void* out, size_t out_count, corymb_type out_type,
                                            int to, void* in, size_t in_count, corymb_type in_type,
                                            int from, corymb_team* team) CORYMB_NOEXCEPT;

#ifdef __cplusplus
}
#endif

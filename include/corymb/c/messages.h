// SPDX-License-Identifier: Apache-2.0
// Messages between two ranks. Part of <corymb.h>.
#pragma once

#include <corymb/c/team.h>

#ifdef __cplusplus
extern "C" {
#endif

// The k-th message from p to q goes to the k-th receive of q from p, and both name the same number
// of bytes. There are no tags. A send may wait for its receive.

CORYMB_EXPORT corymb_status corymb_send(const void* data, size_t count, corymb_type type, int to,
                                        corymb_team* team) CORYMB_NOEXCEPT;
CORYMB_EXPORT corymb_status corymb_isend(const void* data, size_t count, corymb_type type, int to,
                                         corymb_team* team,
                                         corymb_request** request) CORYMB_NOEXCEPT;
CORYMB_EXPORT corymb_status corymb_send_init(const void* data, size_t count, corymb_type type,
                                             int to, corymb_team* team,
                                             corymb_request** request) CORYMB_NOEXCEPT;
CORYMB_EXPORT corymb_status corymb_recv(void* data, size_t count, corymb_type type, int from,
                                        corymb_team* team) CORYMB_NOEXCEPT;
CORYMB_EXPORT corymb_status corymb_irecv(void* data, size_t count, corymb_type type, int from,
                                         corymb_team* team,
                                         corymb_request** request) CORYMB_NOEXCEPT;
CORYMB_EXPORT corymb_status corymb_recv_init(void* data, size_t count, corymb_type type, int from,
                                             corymb_team* team,
                                             corymb_request** request) CORYMB_NOEXCEPT;
/// Sends and receives at once, with any two ranks.
CORYMB_EXPORT corymb_status corymb_sendrecv(const void* out, size_t out_count, corymb_type out_type,
                                            int to, void* in, size_t in_count, corymb_type in_type,
                                            int from, corymb_team* team) CORYMB_NOEXCEPT;

#ifdef __cplusplus
}
#endif

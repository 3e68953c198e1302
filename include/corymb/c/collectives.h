// SPDX-License-Identifier: Apache-2.0
// The collectives, in their three forms. Part of <corymb.h>.
#pragma once

#include <corymb/c/team.h>

#ifdef __cplusplus
extern "C" {
#endif

// All ranks call the same operations in the same order with the same root, count, type and
// operator. `count` is in elements, of one rank's part where every rank has a part. Each operation
// has three forms: blocking; nonblocking (i...), which returns at once with a request; persistent
// (..._init), a request that can be started many times. docs/requests.md has their rules.

/// In place of `input` (reduce at the root, allreduce, scan, exscan; gather at the root, allgather:
/// this rank's part of the output) or of `output` (scatter at the root, reduce_scatter: this rank's
/// part of the input, which is then written).
#ifdef __cplusplus
#define CORYMB_IN_PLACE (reinterpret_cast<void*>(static_cast<intptr_t>(-1)))
#else
#define CORYMB_IN_PLACE ((void*)(intptr_t)-1)
#endif

/// Returns when every rank has called it.
CORYMB_EXPORT corymb_status corymb_barrier(corymb_team* team) CORYMB_NOEXCEPT;
CORYMB_EXPORT corymb_status corymb_ibarrier(corymb_team* team,
                                            corymb_request** request) CORYMB_NOEXCEPT;
CORYMB_EXPORT corymb_status corymb_barrier_init(corymb_team* team,
                                                corymb_request** request) CORYMB_NOEXCEPT;

/// Copies the root's `data` to every rank's.
CORYMB_EXPORT corymb_status corymb_broadcast(void* data, size_t count, corymb_type type, int root,
                                             corymb_team* team) CORYMB_NOEXCEPT;
CORYMB_EXPORT corymb_status corymb_ibroadcast(void* data, size_t count, corymb_type type, int root,
                                              corymb_team* team,
                                              corymb_request** request) CORYMB_NOEXCEPT;
CORYMB_EXPORT corymb_status corymb_broadcast_init(void* data, size_t count, corymb_type type,
                                                  int root, corymb_team* team,
                                                  corymb_request** request) CORYMB_NOEXCEPT;

/// Combines `input` of all ranks element by element into the root's `output`; elsewhere it may be
/// NULL. An operator of your own that is not commutative gets the ranks in their order, and all
/// that a rank contributes at once. So it is in all operations that combine.
CORYMB_EXPORT corymb_status corymb_reduce(const void* input, void* output, size_t count,
                                          corymb_type type, corymb_op op, int root,
                                          corymb_team* team) CORYMB_NOEXCEPT;
CORYMB_EXPORT corymb_status corymb_ireduce(const void* input, void* output, size_t count,
                                           corymb_type type, corymb_op op, int root,
                                           corymb_team* team,
                                           corymb_request** request) CORYMB_NOEXCEPT;
CORYMB_EXPORT corymb_status corymb_reduce_init(const void* input, void* output, size_t count,
                                               corymb_type type, corymb_op op, int root,
                                               corymb_team* team,
                                               corymb_request** request) CORYMB_NOEXCEPT;

/// As corymb_reduce, with the result on every rank.
CORYMB_EXPORT corymb_status corymb_allreduce(const void* input, void* output, size_t count,
                                             corymb_type type, corymb_op op,
                                             corymb_team* team) CORYMB_NOEXCEPT;
CORYMB_EXPORT corymb_status corymb_iallreduce(const void* input, void* output, size_t count,
                                              corymb_type type, corymb_op op, corymb_team* team,
                                              corymb_request** request) CORYMB_NOEXCEPT;
CORYMB_EXPORT corymb_status corymb_allreduce_init(const void* input, void* output, size_t count,
                                                  corymb_type type, corymb_op op, corymb_team* team,
                                                  corymb_request** request) CORYMB_NOEXCEPT;

/// Rank r's `input` becomes part r of the root's `output`; elsewhere it may be NULL.
CORYMB_EXPORT corymb_status corymb_gather(const void* input, void* output, size_t count,
                                          corymb_type type, int root,
                                          corymb_team* team) CORYMB_NOEXCEPT;
CORYMB_EXPORT corymb_status corymb_igather(const void* input, void* output, size_t count,
                                           corymb_type type, int root, corymb_team* team,
                                           corymb_request** request) CORYMB_NOEXCEPT;
CORYMB_EXPORT corymb_status corymb_gather_init(const void* input, void* output, size_t count,
                                               corymb_type type, int root, corymb_team* team,
                                               corymb_request** request) CORYMB_NOEXCEPT;

/// Part r of the root's `input` becomes rank r's `output`; elsewhere `input` may be NULL.
CORYMB_EXPORT corymb_status corymb_scatter(const void* input, void* output, size_t count,
                                           corymb_type type, int root,
                                           corymb_team* team) CORYMB_NOEXCEPT;
CORYMB_EXPORT corymb_status corymb_iscatter(const void* input, void* output, size_t count,
                                            corymb_type type, int root, corymb_team* team,
                                            corymb_request** request) CORYMB_NOEXCEPT;
CORYMB_EXPORT corymb_status corymb_scatter_init(const void* input, void* output, size_t count,
                                                corymb_type type, int root, corymb_team* team,
                                                corymb_request** request) CORYMB_NOEXCEPT;

/// As corymb_gather, with the result on every rank.
CORYMB_EXPORT corymb_status corymb_allgather(const void* input, void* output, size_t count,
                                             corymb_type type, corymb_team* team) CORYMB_NOEXCEPT;
CORYMB_EXPORT corymb_status corymb_iallgather(const void* input, void* output, size_t count,
                                              corymb_type type, corymb_team* team,
                                              corymb_request** request) CORYMB_NOEXCEPT;
CORYMB_EXPORT corymb_status corymb_allgather_init(const void* input, void* output, size_t count,
                                                  corymb_type type, corymb_team* team,
                                                  corymb_request** request) CORYMB_NOEXCEPT;

/// Part q of rank p's `input` becomes part p of rank q's `output`; the two are apart.
CORYMB_EXPORT corymb_status corymb_alltoall(const void* input, void* output, size_t count,
                                            corymb_type type, corymb_team* team) CORYMB_NOEXCEPT;
CORYMB_EXPORT corymb_status corymb_ialltoall(const void* input, void* output, size_t count,
                                             corymb_type type, corymb_team* team,
                                             corymb_request** request) CORYMB_NOEXCEPT;
CORYMB_EXPORT corymb_status corymb_alltoall_init(const void* input, void* output, size_t count,
                                                 corymb_type type, corymb_team* team,
                                                 corymb_request** request) CORYMB_NOEXCEPT;

/// Part r of all ranks' `input`, combined element by element, becomes rank r's `output`.
CORYMB_EXPORT corymb_status corymb_reduce_scatter(const void* input, void* output, size_t count,
                                                  corymb_type type, corymb_op op,
                                                  corymb_team* team) CORYMB_NOEXCEPT;
CORYMB_EXPORT corymb_status corymb_ireduce_scatter(const void* input, void* output, size_t count,
                                                   corymb_type type, corymb_op op,
                                                   corymb_team* team,
                                                   corymb_request** request) CORYMB_NOEXCEPT;
CORYMB_EXPORT corymb_status corymb_reduce_scatter_init(const void* input, void* output,
                                                       size_t count, corymb_type type, corymb_op op,
                                                       corymb_team* team,
                                                       corymb_request** request) CORYMB_NOEXCEPT;

/// Rank r's `output` has the inputs of the ranks 0 to r combined.
CORYMB_EXPORT corymb_status corymb_scan(const void* input, void* output, size_t count,
                                        corymb_type type, corymb_op op,
                                        corymb_team* team) CORYMB_NOEXCEPT;
CORYMB_EXPORT corymb_status corymb_iscan(const void* input, void* output, size_t count,
                                         corymb_type type, corymb_op op, corymb_team* team,
                                         corymb_request** request) CORYMB_NOEXCEPT;
CORYMB_EXPORT corymb_status corymb_scan_init(const void* input, void* output, size_t count,
                                             corymb_type type, corymb_op op, corymb_team* team,
                                             corymb_request** request) CORYMB_NOEXCEPT;

/// As corymb_scan, over the ranks 0 to r - 1; rank 0's output is left as it is.
CORYMB_EXPORT corymb_status corymb_exscan(const void* input, void* output, size_t count,
                                          corymb_type type, corymb_op op,
                                          corymb_team* team) CORYMB_NOEXCEPT;
CORYMB_EXPORT corymb_status corymb_iexscan(const void* input, void* output, size_t count,
                                           corymb_type type, corymb_op op, corymb_team* team,
                                           corymb_request** request) CORYMB_NOEXCEPT;
CORYMB_EXPORT corymb_status corymb_exscan_init(const void* input, void* output, size_t count,
                                               corymb_type type, corymb_op op, corymb_team* team,
                                               corymb_request** request) CORYMB_NOEXCEPT;

#ifdef __cplusplus
}
#endif

// SPDX-License-Identifier: Apache-2.0
// The collectives, in their three forms. Part of <corymb.h>.
#pragma once

#include <corymb/c/operation.h>

#ifdef __cplusplus
extern "C" {
#endif

// All ranks call the same operations in the same order with the same root, count, type and
// operator. `count` is in elements, of one rank's part where every rank has a part. Each operation
// has three forms: blocking (corymb_reduce); nonblocking (corymb_ireduce), which returns at once
// with a request; persistent (corymb_reduce_init), a request that can be started many times.
// docs/reference/requests.md has their rules. Parameters are those that follow the value, then the
// team and, but for the blocking form, the place of the request.

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
static inline corymb_status corymb_ibarrier(corymb_team* team,
                                            corymb_request** request) CORYMB_NOEXCEPT {
    corymb_operation operation;
    corymb_operation_init(&operation);
    return corymb_begin(&operation, team, request);
}
static inline corymb_status corymb_barrier_init(corymb_team* team,
                                                corymb_request** request) CORYMB_NOEXCEPT {
    corymb_operation operation;
    corymb_operation_init(&operation);
    return corymb_prepare(&operation, team, request);
}

/// Copies the root's `data` to every rank's.
CORYMB_COLLECTIVE(broadcast, (CORYMB_BROADCAST, root, type, CORYMB_NO_OP, NULL, data, count, NULL),
                  void* data, size_t count, corymb_type type, int root)

/// Combines `input` of all ranks element by element into the root's `output`; elsewhere it may be
/// NULL. An operator of your own that is not commutative gets the ranks in their order, and all
/// that a rank contributes at once. So it is in all operations that combine.
CORYMB_COLLECTIVE(reduce, (CORYMB_REDUCE, root, type, op, input, output, count, NULL),
                  const void* input, void* output, size_t count, corymb_type type, corymb_op op,
                  int root)

/// As corymb_reduce, with the result on every rank.
CORYMB_COLLECTIVE(allreduce, (CORYMB_ALLREDUCE, 0, type, op, input, output, count, NULL),
                  const void* input, void* output, size_t count, corymb_type type, corymb_op op)

/// Rank r's `input` becomes part r of the root's `output`; elsewhere it may be NULL.
CORYMB_COLLECTIVE(gather, (CORYMB_GATHER, root, type, CORYMB_NO_OP, input, output, count, NULL),
                  const void* input, void* output, size_t count, corymb_type type, int root)

/// Part r of the root's `input` becomes rank r's `output`; elsewhere `input` may be NULL.
CORYMB_COLLECTIVE(scatter, (CORYMB_SCATTER, root, type, CORYMB_NO_OP, input, output, count, NULL),
                  const void* input, void* output, size_t count, corymb_type type, int root)

/// As corymb_gather, with the result on every rank.
CORYMB_COLLECTIVE(allgather, (CORYMB_ALLGATHER, 0, type, CORYMB_NO_OP, input, output, count, NULL),
                  const void* input, void* output, size_t count, corymb_type type)

/// Part q of rank p's `input` becomes part p of rank q's `output`; the two are apart.
CORYMB_COLLECTIVE(alltoall, (CORYMB_ALLTOALL, 0, type, CORYMB_NO_OP, input, output, count, NULL),
                  const void* input, void* output, size_t count, corymb_type type)

/// Part r of all ranks' `input`, combined element by element, becomes rank r's `output`.
CORYMB_COLLECTIVE(reduce_scatter, (CORYMB_REDUCE_SCATTER, 0, type, op, input, output, count, NULL),
                  const void* input, void* output, size_t count, corymb_type type, corymb_op op)

/// Rank r's `output` has the inputs of the ranks 0 to r combined.
CORYMB_COLLECTIVE(scan, (CORYMB_SCAN, 0, type, op, input, output, count, NULL), const void* input,
                  void* output, size_t count, corymb_type type, corymb_op op)

/// As corymb_scan, over the ranks 0 to r - 1; rank 0's output is left as it is.
CORYMB_COLLECTIVE(exscan, (CORYMB_EXSCAN, 0, type, op, input, output, count, NULL),
                  const void* input, void* output, size_t count, corymb_type type, corymb_op op)

#ifdef __cplusplus
}
#endif

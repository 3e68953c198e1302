// SPDX-License-Identifier: Apache-2.0
// Collectives whose parts differ in length, in their three forms. Part of <corymb.h>.
#pragma once

#include <corymb/c/collectives.h>

#ifdef __cplusplus
extern "C" {
#endif

// Part r has counts[r] elements, which may be 0, and begins at element displacements[r]; without
// displacements (NULL), where the part before it ends. Parts that are written do not overlap. The
// arrays have an entry for each rank and are read during the call only.

/// See corymb_gather. Only the root needs `counts`.
CORYMB_COLLECTIVE_OF_PARTS(gatherv,
                           (CORYMB_GATHER, root, type, CORYMB_NO_OP, input, output, count, &parts),
                           (NULL, NULL, counts, displacements), const void* input, size_t count,
                           void* output, const size_t* counts, const size_t* displacements,
                           corymb_type type, int root)

/// See corymb_scatter. Only the root needs `counts`; parts of its input may overlap.
CORYMB_COLLECTIVE_OF_PARTS(scatterv,
                           (CORYMB_SCATTER, root, type, CORYMB_NO_OP, input, output, count, &parts),
                           (counts, displacements, NULL, NULL), const void* input,
                           const size_t* counts, const size_t* displacements, void* output,
                           size_t count, corymb_type type, int root)

/// See corymb_allgather. The counts are equal on all ranks; displacements may differ.
CORYMB_COLLECTIVE_OF_PARTS(allgatherv,
                           (CORYMB_ALLGATHER, 0, type, CORYMB_NO_OP, input, output, count, &parts),
                           (NULL, NULL, counts, displacements), const void* input, size_t count,
                           void* output, const size_t* counts, const size_t* displacements,
                           corymb_type type)

/// See corymb_alltoall: count q of rank p's input is count p of rank q's output. With CORYMB_BYTE
/// it does what MPI calls alltoallw.
CORYMB_COLLECTIVE_OF_PARTS(alltoallv,
                           (CORYMB_ALLTOALL, 0, type, CORYMB_NO_OP, input, output, 0, &parts),
                           (in_counts, in_displacements, out_counts, out_displacements),
                           const void* input, const size_t* in_counts,
                           const size_t* in_displacements, void* output, const size_t* out_counts,
                           const size_t* out_displacements, corymb_type type)

/// See corymb_reduce_scatter; rank r gets counts[r] elements. The counts are equal on all ranks.
CORYMB_COLLECTIVE_OF_PARTS(reduce_scatterv,
                           (CORYMB_REDUCE_SCATTER, 0, type, op, input, output, 0, &parts),
                           (counts, NULL, NULL, NULL), const void* input, void* output,
                           const size_t* counts, corymb_type type, corymb_op op)

#ifdef __cplusplus
}
#endif

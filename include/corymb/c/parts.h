// SPDX-License-Identifier: Apache-2.0
// Collectives whose parts differ in length. Part of <corymb.h>.
#pragma once

#include <corymb/c/collectives.h>

#ifdef __cplusplus
extern "C" {
#endif

// Part r has counts[r] elements, which may be 0, and begins at element displacements[r]; without
// displacements (NULL), where the part before it ends. Parts that are written do not overlap. The
// arrays have an entry for each rank and are read during the call only.

/// See corymb_gather. Only the root needs `counts`.
CORYMB_EXPORT corymb_status corymb_gatherv(const void* input, size_t count, void* output,
                                           const size_t* counts, const size_t* displacements,
                                           corymb_type type, int root,
                                           corymb_team* team) CORYMB_NOEXCEPT;
CORYMB_EXPORT corymb_status corymb_igatherv(const void* input, size_t count, void* output,
                                            const size_t* counts, const size_t* displacements,
                                            corymb_type type, int root, corymb_team* team,
                                            corymb_request** request) CORYMB_NOEXCEPT;
CORYMB_EXPORT corymb_status corymb_gatherv_init(const void* input, size_t count, void* output,
                                                const size_t* counts, const size_t* displacements,
                                                corymb_type type, int root, corymb_team* team,
                                                corymb_request** request) CORYMB_NOEXCEPT;

/// See corymb_scatter. Only the root needs `counts`; parts of its input may overlap.
CORYMB_EXPORT corymb_status corymb_scatterv(const void* input, const size_t* counts,
                                            const size_t* displacements, void* output, size_t count,
                                            corymb_type type, int root,
                                            corymb_team* team) CORYMB_NOEXCEPT;
CORYMB_EXPORT corymb_status corymb_iscatterv(const void* input, const size_t* counts,
                                             const size_t* displacements, void* output,
                                             size_t count, corymb_type type, int root,
                                             corymb_team* team,
                                             corymb_request** request) CORYMB_NOEXCEPT;
CORYMB_EXPORT corymb_status corymb_scatterv_init(const void* input, const size_t* counts,
                                                 const size_t* displacements, void* output,
                                                 size_t count, corymb_type type, int root,
                                                 corymb_team* team,
                                                 corymb_request** request) CORYMB_NOEXCEPT;

/// See corymb_allgather. The counts are equal on all ranks; displacements may differ.
CORYMB_EXPORT corymb_status corymb_allgatherv(const void* input, size_t count, void* output,
                                              const size_t* counts, const size_t* displacements,
                                              corymb_type type, corymb_team* team) CORYMB_NOEXCEPT;
CORYMB_EXPORT corymb_status corymb_iallgatherv(const void* input, size_t count, void* output,
                                               const size_t* counts, const size_t* displacements,
                                               corymb_type type, corymb_team* team,
                                               corymb_request** request) CORYMB_NOEXCEPT;
CORYMB_EXPORT corymb_status corymb_allgatherv_init(const void* input, size_t count, void* output,
                                                   const size_t* counts,
                                                   const size_t* displacements, corymb_type type,
                                                   corymb_team* team,
                                                   corymb_request** request) CORYMB_NOEXCEPT;

/// See corymb_alltoall: count q of rank p's input is count p of rank q's output. With CORYMB_BYTE
/// it does what MPI calls alltoallw.
CORYMB_EXPORT corymb_status corymb_alltoallv(const void* input, const size_t* in_counts,
                                             const size_t* in_displacements, void* output,
                                             const size_t* out_counts,
                                             const size_t* out_displacements, corymb_type type,
                                             corymb_team* team) CORYMB_NOEXCEPT;
CORYMB_EXPORT corymb_status corymb_ialltoallv(const void* input, const size_t* in_counts,
                                              const size_t* in_displacements, void* output,
                                              const size_t* out_counts,
                                              const size_t* out_displacements, corymb_type type,
                                              corymb_team* team,
                                              corymb_request** request) CORYMB_NOEXCEPT;
CORYMB_EXPORT corymb_status corymb_alltoallv_init(const void* input, const size_t* in_counts,
                                                  const size_t* in_displacements, void* output,
                                                  const size_t* out_counts,
                                                  const size_t* out_displacements, corymb_type type,
                                                  corymb_team* team,
                                                  corymb_request** request) CORYMB_NOEXCEPT;

/// See corymb_reduce_scatter; rank r gets counts[r] elements. The counts are equal on all ranks.
CORYMB_EXPORT corymb_status corymb_reduce_scatterv(const void* input, void* output,
                                                   const size_t* counts, corymb_type type,
                                                   corymb_op op, corymb_team* team) CORYMB_NOEXCEPT;
CORYMB_EXPORT corymb_status corymb_ireduce_scatterv(const void* input, void* output,
                                                    const size_t* counts, corymb_type type,
                                                    corymb_op op, corymb_team* team,
                                                    corymb_request** request) CORYMB_NOEXCEPT;
CORYMB_EXPORT corymb_status corymb_reduce_scatterv_init(const void* input, void* output,
                                                        const size_t* counts, corymb_type type,
                                                        corymb_op op, corymb_team* team,
                                                        corymb_request** request) CORYMB_NOEXCEPT;

#ifdef __cplusplus
}
#endif

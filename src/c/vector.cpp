// SPDX-License-Identifier: Apache-2.0
// Collectives whose parts differ in length, in their three forms.
#include "c/calls.hpp"

using namespace corymb;

corymb_status corymb_gatherv(const void* input, size_t count, void* output, const size_t* counts,
                             const size_t* displacements, corymb_type type, int root,
                             corymb_team* team) noexcept {
    return c::run(team, {Collective::gather, input, output, count, type, CORYMB_NO_OP, root,
                         c::PartLists{nullptr, nullptr, counts, displacements}});
}

corymb_status corymb_igatherv(const void* input, size_t count, void* output, const size_t* counts,
                              const size_t* displacements, corymb_type type, int root,
                              corymb_team* team, corymb_request** request) noexcept {
    return c::start(team,
                    {Collective::gather, input, output, count, type, CORYMB_NO_OP, root,
                     c::PartLists{nullptr, nullptr, counts, displacements}},
                    request);
}

corymb_status corymb_gatherv_init(const void* input, size_t count, void* output,
                                  const size_t* counts, const size_t* displacements,
                                  corymb_type type, int root, corymb_team* team,
                                  corymb_request** request) noexcept {
    return c::make(team,
                   {Collective::gather, input, output, count, type, CORYMB_NO_OP, root,
                    c::PartLists{nullptr, nullptr, counts, displacements}},
                   request);
}

corymb_status corymb_scatterv(const void* input, const size_t* counts, const size_t* displacements,
                              void* output, size_t count, corymb_type type, int root,
                              corymb_team* team) noexcept {
    return c::run(team, {Collective::scatter, input, output, count, type, CORYMB_NO_OP, root,
                         c::PartLists{counts, displacements, nullptr, nullptr}});
}

corymb_status corymb_iscatterv(const void* input, const size_t* counts, const size_t* displacements,
                               void* output, size_t count, corymb_type type, int root,
                               corymb_team* team, corymb_request** request) noexcept {
    return c::start(team,
                    {Collective::scatter, input, output, count, type, CORYMB_NO_OP, root,
                     c::PartLists{counts, displacements, nullptr, nullptr}},
                    request);
}

corymb_status corymb_scatterv_init(const void* input, const size_t* counts,
                                   const size_t* displacements, void* output, size_t count,
                                   corymb_type type, int root, corymb_team* team,
                                   corymb_request** request) noexcept {
    return c::make(team,
                   {Collective::scatter, input, output, count, type, CORYMB_NO_OP, root,
                    c::PartLists{counts, displacements, nullptr, nullptr}},
                   request);
}

corymb_status corymb_allgatherv(const void* input, size_t count, void* output, const size_t* counts,
                                const size_t* displacements, corymb_type type,
                                corymb_team* team) noexcept {
    return c::run(team, {Collective::allgather, input, output, count, type, CORYMB_NO_OP, 0,
                         c::PartLists{nullptr, nullptr, counts, displacements}});
}

corymb_status corymb_iallgatherv(const void* input, size_t count, void* output,
                                 const size_t* counts, const size_t* displacements,
                                 corymb_type type, corymb_team* team,
                                 corymb_request** request) noexcept {
    return c::start(team,
                    {Collective::allgather, input, output, count, type, CORYMB_NO_OP, 0,
                     c::PartLists{nullptr, nullptr, counts, displacements}},
                    request);
}

corymb_status corymb_allgatherv_init(const void* input, size_t count, void* output,
                                     const size_t* counts, const size_t* displacements,
                                     corymb_type type, corymb_team* team,
                                     corymb_request** request) noexcept {
    return c::make(team,
                   {Collective::allgather, input, output, count, type, CORYMB_NO_OP, 0,
                    c::PartLists{nullptr, nullptr, counts, displacements}},
                   request);
}

corymb_status corymb_alltoallv(const void* input, const size_t* in_counts,
                               const size_t* in_displacements, void* output,
                               const size_t* out_counts, const size_t* out_displacements,
                               corymb_type type, corymb_team* team) noexcept {
    return c::run(team, {Collective::alltoall, input, output, 0, type, CORYMB_NO_OP, 0,
                         c::PartLists{in_counts, in_displacements, out_counts, out_displacements}});
}

corymb_status corymb_ialltoallv(const void* input, const size_t* in_counts,
                                const size_t* in_displacements, void* output,
                                const size_t* out_counts, const size_t* out_displacements,
                                corymb_type type, corymb_team* team,
                                corymb_request** request) noexcept {
    return c::start(team,
                    {Collective::alltoall, input, output, 0, type, CORYMB_NO_OP, 0,
                     c::PartLists{in_counts, in_displacements, out_counts, out_displacements}},
                    request);
}

corymb_status corymb_alltoallv_init(const void* input, const size_t* in_counts,
                                    const size_t* in_displacements, void* output,
                                    const size_t* out_counts, const size_t* out_displacements,
                                    corymb_type type, corymb_team* team,
                                    corymb_request** request) noexcept {
    return c::make(team,
                   {Collective::alltoall, input, output, 0, type, CORYMB_NO_OP, 0,
                    c::PartLists{in_counts, in_displacements, out_counts, out_displacements}},
                   request);
}

corymb_status corymb_reduce_scatterv(const void* input, void* output, const size_t* counts,
                                     corymb_type type, corymb_op op, corymb_team* team) noexcept {
    return c::run(team, {Collective::reduce_scatter, input, output, 0, type, op, 0,
                         c::PartLists{counts, nullptr, nullptr, nullptr}});
}

corymb_status corymb_ireduce_scatterv(const void* input, void* output, const size_t* counts,
                                      corymb_type type, corymb_op op, corymb_team* team,
                                      corymb_request** request) noexcept {
    return c::start(team,
                    {Collective::reduce_scatter, input, output, 0, type, op, 0,
                     c::PartLists{counts, nullptr, nullptr, nullptr}},
                    request);
}

corymb_status corymb_reduce_scatterv_init(const void* input, void* output, const size_t* counts,
                                          corymb_type type, corymb_op op, corymb_team* team,
                                          corymb_request** request) noexcept {
    return c::make(team,
                   {Collective::reduce_scatter, input, output, 0, type, op, 0,
                    c::PartLists{counts, nullptr, nullptr, nullptr}},
                   request);
}

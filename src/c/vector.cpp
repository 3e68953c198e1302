// SPDX-License-Identifier: Apache-2.0
// Collectives whose parts differ in length, in their three forms.
#include "c/calls.hpp"

using namespace corymb;

namespace {

c::PartLists parts_of_input(const size_t* counts, const size_t* displacements) {
    return {counts, displacements, nullptr, nullptr};
}

c::PartLists parts_of_output(const size_t* counts, const size_t* displacements) {
    return {nullptr, nullptr, counts, displacements};
}

c::Arguments gatherv(const void* input, size_t count, void* output, const size_t* counts,
                     const size_t* displacements, corymb_type type, int root) {
    const c::PartLists lists = parts_of_output(counts, displacements);
    return {Collective::gather, input, output, count, type, CORYMB_NO_OP, root, lists};
}

c::Arguments scatterv(const void* input, const size_t* counts, const size_t* displacements,
                      void* output, size_t count, corymb_type type, int root) {
    const c::PartLists lists = parts_of_input(counts, displacements);
    return {Collective::scatter, input, output, count, type, CORYMB_NO_OP, root, lists};
}

c::Arguments allgatherv(const void* input, size_t count, void* output, const size_t* counts,
                        const size_t* displacements, corymb_type type) {
    const c::PartLists lists = parts_of_output(counts, displacements);
    return {Collective::allgather, input, output, count, type, CORYMB_NO_OP, 0, lists};
}

c::Arguments alltoallv(const void* input, const size_t* in_counts, const size_t* in_displacements,
                       void* output, const size_t* out_counts, const size_t* out_displacements,
                       corymb_type type) {
    const c::PartLists lists{in_counts, in_displacements, out_counts, out_displacements};
    return {Collective::alltoall, input, output, 0, type, CORYMB_NO_OP, 0, lists};
}

c::Arguments reduce_scatterv(const void* input, void* output, const size_t* counts,
                             corymb_type type, corymb_op op) {
    const c::PartLists lists = parts_of_input(counts, nullptr);
    return {Collective::reduce_scatter, input, output, 0, type, op, 0, lists};
}

} // namespace

corymb_status corymb_gatherv(const void* input, size_t count, void* output, const size_t* counts,
                             const size_t* displacements, corymb_type type, int root,
                             corymb_team* team) noexcept {
    return c::run(team, gatherv(input, count, output, counts, displacements, type, root));
}

corymb_status corymb_igatherv(const void* input, size_t count, void* output, const size_t* counts,
                              const size_t* displacements, corymb_type type, int root,
                              corymb_team* team, corymb_request** request) noexcept {
    return c::start(team, gatherv(input, count, output, counts, displacements, type, root),
                    request);
}

corymb_status corymb_gatherv_init(const void* input, size_t count, void* output,
                                  const size_t* counts, const size_t* displacements,
                                  corymb_type type, int root, corymb_team* team,
                                  corymb_request** request) noexcept {
    return c::make(team, gatherv(input, count, output, counts, displacements, type, root), request);
}

corymb_status corymb_scatterv(const void* input, const size_t* counts, const size_t* displacements,
                              void* output, size_t count, corymb_type type, int root,
                              corymb_team* team) noexcept {
    return c::run(team, scatterv(input, counts, displacements, output, count, type, root));
}

corymb_status corymb_iscatterv(const void* input, const size_t* counts, const size_t* displacements,
                               void* output, size_t count, corymb_type type, int root,
                               corymb_team* team, corymb_request** request) noexcept {
    return c::start(team, scatterv(input, counts, displacements, output, count, type, root),
                    request);
}

corymb_status corymb_scatterv_init(const void* input, const size_t* counts,
                                   const size_t* displacements, void* output, size_t count,
                                   corymb_type type, int root, corymb_team* team,
                                   corymb_request** request) noexcept {
    return c::make(team, scatterv(input, counts, displacements, output, count, type, root),
                   request);
}

corymb_status corymb_allgatherv(const void* input, size_t count, void* output, const size_t* counts,
                                const size_t* displacements, corymb_type type,
                                corymb_team* team) noexcept {
    return c::run(team, allgatherv(input, count, output, counts, displacements, type));
}

corymb_status corymb_iallgatherv(const void* input, size_t count, void* output,
                                 const size_t* counts, const size_t* displacements,
                                 corymb_type type, corymb_team* team,
                                 corymb_request** request) noexcept {
    return c::start(team, allgatherv(input, count, output, counts, displacements, type), request);
}

corymb_status corymb_allgatherv_init(const void* input, size_t count, void* output,
                                     const size_t* counts, const size_t* displacements,
                                     corymb_type type, corymb_team* team,
                                     corymb_request** request) noexcept {
    return c::make(team, allgatherv(input, count, output, counts, displacements, type), request);
}

corymb_status corymb_alltoallv(const void* input, const size_t* in_counts,
                               const size_t* in_displacements, void* output,
                               const size_t* out_counts, const size_t* out_displacements,
                               corymb_type type, corymb_team* team) noexcept {
    return c::run(team, alltoallv(input, in_counts, in_displacements, output, out_counts,
                                  out_displacements, type));
}

corymb_status corymb_ialltoallv(const void* input, const size_t* in_counts,
                                const size_t* in_displacements, void* output,
                                const size_t* out_counts, const size_t* out_displacements,
                                corymb_type type, corymb_team* team,
                                corymb_request** request) noexcept {
    return c::start(
        team,
        alltoallv(input, in_counts, in_displacements, output, out_counts, out_displacements, type),
        request);
}

corymb_status corymb_alltoallv_init(const void* input, const size_t* in_counts,
                                    const size_t* in_displacements, void* output,
                                    const size_t* out_counts, const size_t* out_displacements,
                                    corymb_type type, corymb_team* team,
                                    corymb_request** request) noexcept {
    return c::make(
        team,
        alltoallv(input, in_counts, in_displacements, output, out_counts, out_displacements, type),
        request);
}

corymb_status corymb_reduce_scatterv(const void* input, void* output, const size_t* counts,
                                     corymb_type type, corymb_op op, corymb_team* team) noexcept {
    return c::run(team, reduce_scatterv(input, output, counts, type, op));
}

corymb_status corymb_ireduce_scatterv(const void* input, void* output, const size_t* counts,
                                      corymb_type type, corymb_op op, corymb_team* team,
                                      corymb_request** request) noexcept {
    return c::start(team, reduce_scatterv(input, output, counts, type, op), request);
}

corymb_status corymb_reduce_scatterv_init(const void* input, void* output, const size_t* counts,
                                          corymb_type type, corymb_op op, corymb_team* team,
                                          corymb_request** request) noexcept {
    return c::make(team, reduce_scatterv(input, output, counts, type, op), request);
}

// SPDX-License-Identifier: Apache-2.0
// Persistent collectives.
#include "c/calls.hpp"

using namespace corymb;

corymb_status corymb_barrier_init(corymb_team* team, corymb_request** request) noexcept {
    return c::give_request(
        team, request, [](Team& own, corymb_request& made) { made.request = own.barrier_init(); });
}

corymb_status corymb_broadcast_init(void* data, size_t count, corymb_type type, int root,
                                    corymb_team* team, corymb_request** request) noexcept {
    return c::make(team, {Collective::broadcast, nullptr, data, count, type, CORYMB_NO_OP, root},
                   request);
}

corymb_status corymb_reduce_init(const void* input, void* output, size_t count, corymb_type type,
                                 corymb_op op, int root, corymb_team* team,
                                 corymb_request** request) noexcept {
    return c::make(team, {Collective::reduce, input, output, count, type, op, root}, request);
}

corymb_status corymb_allreduce_init(const void* input, void* output, size_t count, corymb_type type,
                                    corymb_op op, corymb_team* team,
                                    corymb_request** request) noexcept {
    return c::make(team, {Collective::allreduce, input, output, count, type, op}, request);
}

corymb_status corymb_gather_init(const void* input, void* output, size_t count, corymb_type type,
                                 int root, corymb_team* team, corymb_request** request) noexcept {
    return c::make(team, {Collective::gather, input, output, count, type, CORYMB_NO_OP, root},
                   request);
}

corymb_status corymb_scatter_init(const void* input, void* output, size_t count, corymb_type type,
                                  int root, corymb_team* team, corymb_request** request) noexcept {
    return c::make(team, {Collective::scatter, input, output, count, type, CORYMB_NO_OP, root},
                   request);
}

corymb_status corymb_allgather_init(const void* input, void* output, size_t count, corymb_type type,
                                    corymb_team* team, corymb_request** request) noexcept {
    return c::make(team, {Collective::allgather, input, output, count, type}, request);
}

corymb_status corymb_alltoall_init(const void* input, void* output, size_t count, corymb_type type,
                                   corymb_team* team, corymb_request** request) noexcept {
    return c::make(team, {Collective::alltoall, input, output, count, type}, request);
}

corymb_status corymb_reduce_scatter_init(const void* input, void* output, size_t count,
                                         corymb_type type, corymb_op op, corymb_team* team,
                                         corymb_request** request) noexcept {
    return c::make(team, {Collective::reduce_scatter, input, output, count, type, op}, request);
}

corymb_status corymb_scan_init(const void* input, void* output, size_t count, corymb_type type,
                               corymb_op op, corymb_team* team, corymb_request** request) noexcept {
    return c::make(team, {Collective::scan, input, output, count, type, op}, request);
}

corymb_status corymb_exscan_init(const void* input, void* output, size_t count, corymb_type type,
                                 corymb_op op, corymb_team* team,
                                 corymb_request** request) noexcept {
    return c::make(team, {Collective::exscan, input, output, count, type, op}, request);
}

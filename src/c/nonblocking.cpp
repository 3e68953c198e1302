// SPDX-License-Identifier: Apache-2.0
// Nonblocking collectives.
#include "c/calls.hpp"

using namespace corymb;

corymb_status corymb_ibarrier(corymb_team* team, corymb_request** request) noexcept {
    return c::give_request(team, request,
                           [](Team& own, corymb_request& made) { made.request = own.ibarrier(); });
}

corymb_status corymb_ibroadcast(void* data, size_t count, corymb_type type, int root,
                                corymb_team* team, corymb_request** request) noexcept {
    return c::start(team, {Collective::broadcast, nullptr, data, count, type, CORYMB_NO_OP, root},
                    request);
}

corymb_status corymb_ireduce(const void* input, void* output, size_t count, corymb_type type,
                             corymb_op op, int root, corymb_team* team,
                             corymb_request** request) noexcept {
    return c::start(team, {Collective::reduce, input, output, count, type, op, root}, request);
}

corymb_status corymb_iallreduce(const void* input, void* output, size_t count, corymb_type type,
                                corymb_op op, corymb_team* team,
                                corymb_request** request) noexcept {
    return c::start(team, {Collective::allreduce, input, output, count, type, op}, request);
}

corymb_status corymb_igather(const void* input, void* output, size_t count, corymb_type type,
                             int root, corymb_team* team, corymb_request** request) noexcept {
    return c::start(team, {Collective::gather, input, output, count, type, CORYMB_NO_OP, root},
                    request);
}

corymb_status corymb_iscatter(const void* input, void* output, size_t count, corymb_type type,
                              int root, corymb_team* team, corymb_request** request) noexcept {
    return c::start(team, {Collective::scatter, input, output, count, type, CORYMB_NO_OP, root},
                    request);
}

corymb_status corymb_iallgather(const void* input, void* output, size_t count, corymb_type type,
                                corymb_team* team, corymb_request** request) noexcept {
    return c::start(team, {Collective::allgather, input, output, count, type}, request);
}

corymb_status corymb_ialltoall(const void* input, void* output, size_t count, corymb_type type,
                               corymb_team* team, corymb_request** request) noexcept {
    return c::start(team, {Collective::alltoall, input, output, count, type}, request);
}

corymb_status corymb_ireduce_scatter(const void* input, void* output, size_t count,
                                     corymb_type type, corymb_op op, corymb_team* team,
                                     corymb_request** request) noexcept {
    return c::start(team, {Collective::reduce_scatter, input, output, count, type, op}, request);
}

corymb_status corymb_iscan(const void* input, void* output, size_t count, corymb_type type,
                           corymb_op op, corymb_team* team, corymb_request** request) noexcept {
    return c::start(team, {Collective::scan, input, output, count, type, op}, request);
}

corymb_status corymb_iexscan(const void* input, void* output, size_t count, corymb_type type,
                             corymb_op op, corymb_team* team, corymb_request** request) noexcept {
    return c::start(team, {Collective::exscan, input, output, count, type, op}, request);
}

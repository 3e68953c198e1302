// SPDX-License-Identifier: Apache-2.0
// Blocking collectives.
#include "c/calls.hpp"

using namespace corymb;

corymb_status corymb_barrier(corymb_team* team) noexcept {
    return c::guarded([&] { c::live(team).team.barrier(); });
}

corymb_status corymb_broadcast(void* data, size_t count, corymb_type type, int root,
                               corymb_team* team) noexcept {
    return c::run(team, {Collective::broadcast, nullptr, data, count, type, CORYMB_NO_OP, root});
}

corymb_status corymb_reduce(const void* input, void* output, size_t count, corymb_type type,
                            corymb_op op, int root, corymb_team* team) noexcept {
    return c::run(team, {Collective::reduce, input, output, count, type, op, root});
}

corymb_status corymb_allreduce(const void* input, void* output, size_t count, corymb_type type,
                               corymb_op op, corymb_team* team) noexcept {
    return c::run(team, {Collective::allreduce, input, output, count, type, op});
}

corymb_status corymb_gather(const void* input, void* output, size_t count, corymb_type type,
                            int root, corymb_team* team) noexcept {
    return c::run(team, {Collective::gather, input, output, count, type, CORYMB_NO_OP, root});
}

corymb_status corymb_scatter(const void* input, void* output, size_t count, corymb_type type,
                             int root, corymb_team* team) noexcept {
    return c::run(team, {Collective::scatter, input, output, count, type, CORYMB_NO_OP, root});
}

corymb_status corymb_allgather(const void* input, void* output, size_t count, corymb_type type,
                               corymb_team* team) noexcept {
    return c::run(team, {Collective::allgather, input, output, count, type});
}

corymb_status corymb_alltoall(const void* input, void* output, size_t count, corymb_type type,
                              corymb_team* team) noexcept {
    return c::run(team, {Collective::alltoall, input, output, count, type});
}

corymb_status corymb_reduce_scatter(const void* input, void* output, size_t count, corymb_type type,
                                    corymb_op op, corymb_team* team) noexcept {
    return c::run(team, {Collective::reduce_scatter, input, output, count, type, op});
}

corymb_status corymb_scan(const void* input, void* output, size_t count, corymb_type type,
                          corymb_op op, corymb_team* team) noexcept {
    return c::run(team, {Collective::scan, input, output, count, type, op});
}

corymb_status corymb_exscan(const void* input, void* output, size_t count, corymb_type type,
                            corymb_op op, corymb_team* team) noexcept {
    return c::run(team, {Collective::exscan, input, output, count, type, op});
}

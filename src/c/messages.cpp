// SPDX-License-Identifier: Apache-2.0
// Messages between two ranks.
#include "c/calls.hpp"

#include <cstddef>
#include <limits>
#include <span>
#include <string>

using namespace corymb;

namespace {

std::size_t bytes_of(size_t count, corymb_type type) {
    const std::size_t element = c::size_of(type);
    if (count > std::numeric_limits<std::ptrdiff_t>::max() / element) {
        c::refuse(std::to_string(count) + " elements of " + std::to_string(element) +
                  " bytes do not fit into the address space");
    }
    return count * element;
}

std::span<const std::byte> outgoing(const void* data, size_t count, corymb_type type) {
    return {static_cast<const std::byte*>(data), bytes_of(count, type)};
}

std::span<std::byte> incoming(void* data, size_t count, corymb_type type) {
    return {static_cast<std::byte*>(data), bytes_of(count, type)};
}

} // namespace

corymb_status corymb_send(const void* data, size_t count, corymb_type type, int to,
                          corymb_team* team) noexcept {
    return c::guarded([&] { c::live(team).team.send(outgoing(data, count, type), to); });
}

corymb_status corymb_isend(const void* data, size_t count, corymb_type type, int to,
                           corymb_team* team, corymb_request** request) noexcept {
    return c::give_request(team, request, [&](Team& own, corymb_request& made) {
        made.request = own.isend(outgoing(data, count, type), to);
    });
}

corymb_status corymb_send_init(const void* data, size_t count, corymb_type type, int to,
                               corymb_team* team, corymb_request** request) noexcept {
    return c::give_request(team, request, [&](Team& own, corymb_request& made) {
        made.request = own.send_init(outgoing(data, count, type), to);
    });
}

corymb_status corymb_recv(void* data, size_t count, corymb_type type, int from,
                          corymb_team* team) noexcept {
    return c::guarded([&] { c::live(team).team.recv(incoming(data, count, type), from); });
}

corymb_status corymb_irecv(void* data, size_t count, corymb_type type, int from, corymb_team* team,
                           corymb_request** request) noexcept {
    return c::give_request(team, request, [&](Team& own, corymb_request& made) {
        made.request = own.irecv(incoming(data, count, type), from);
    });
}

corymb_status corymb_recv_init(void* data, size_t count, corymb_type type, int from,
                               corymb_team* team, corymb_request** request) noexcept {
    return c::give_request(team, request, [&](Team& own, corymb_request& made) {
        made.request = own.recv_init(incoming(data, count, type), from);
    });
}

corymb_status corymb_sendrecv(const void* out, size_t out_count, corymb_type out_type, int to,
                              void* in, size_t in_count, corymb_type in_type, int from,
                              corymb_team* team) noexcept {
    return c::guarded([&] {
        c::live(team).team.sendrecv(outgoing(out, out_count, out_type), to,
                                    incoming(in, in_count, in_type), from);
    });
}

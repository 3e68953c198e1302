// SPDX-License-Identifier: Apache-2.0
// Messages between two ranks.
#include "c/operation.hpp"

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

/// What `send` or `receive` returns for the message's data and the other rank.
template <class Send, class Receive>
auto with_data(const corymb_operation& message, const Send& send, const Receive& receive) {
    if (message.parts != nullptr) {
        c::refuse("a message has no parts; leave `parts` NULL");
    }
    const corymb_type type = message.type;
    const bool sends = message.op == CORYMB_SEND;
    const corymb_packed* layout = sends ? message.packed_input : message.packed_output;
    if (layout != nullptr) {
        const Packed<std::byte> data = c::bytes_of(layout, type);
        return sends ? send(data, message.root) : receive(data, message.root);
    }
    return sends ? send(outgoing(message.input, message.count, type), message.root)
                 : receive(incoming(message.output, message.count, type), message.root);
}

} // namespace

namespace corymb::c {

void run_message(const corymb_operation& message, Team& team) {
    with_data(
        message, [&](const auto& data, int to) { team.send(data, to); },
        [&](const auto& data, int from) { team.recv(data, from); });
}

Request start_message(const corymb_operation& message, Team& team) {
    return with_data(
        message, [&](const auto& data, int to) { return team.isend(data, to); },
        [&](const auto& data, int from) { return team.irecv(data, from); });
}

Request prepare_message(const corymb_operation& message, Team& team) {
    return with_data(
        message, [&](const auto& data, int to) { return team.send_init(data, to); },
        [&](const auto& data, int from) { return team.recv_init(data, from); });
}

} // namespace corymb::c

corymb_status corymb_sendrecv(const void* out, size_t out_count, corymb_type out_type, int to,
                              void* in, size_t in_count, corymb_type in_type, int from,
                              corymb_team* team) noexcept {
    return c::guarded([&] {
        c::live(team).team.sendrecv(outgoing(out, out_count, out_type), to,
                                    incoming(in, in_count, in_type), from);
    });
}

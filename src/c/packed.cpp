// SPDX-License-Identifier: Apache-2.0
// Operations on data that does not lie in one piece.
#include "c/calls.hpp"
#include "c/status.hpp"
#include "plan/places.hpp"

#include <corymb/detail/packed_inline.hpp>

#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <string>

using namespace corymb;

namespace {

using Bytes = Packed<std::byte>;
using Buffers = detail::StagedBuffers<std::byte>;

/// A layout's elements as bytes; of none for NULL.
Bytes bytes_of(const corymb_packed* layout, corymb_type type) {
    const std::size_t element = c::size_of(type);
    Bytes made;
    if (layout == nullptr) {
        return made;
    }
    if (layout->count > std::numeric_limits<std::ptrdiff_t>::max() / element) {
        c::refuse("a packed layout of " + std::to_string(layout->count) +
                  " elements does not fit into the address space");
    }
    made.count = layout->count * element;
    if (layout->pack != nullptr) {
        made.pack = [of = *layout](std::span<std::byte> to) {
            of.pack(of.context, to.data());
        };
    }
    if (layout->unpack != nullptr) {
        made.unpack = [of = *layout](std::span<const std::byte> from) {
            of.unpack(of.context, from.data());
        };
    }
    return made;
}

/// Elements of one of `parts` equal parts, which are `bytes` long together.
std::size_t part_of(Collective op, std::size_t bytes, std::uint32_t parts, std::size_t element) {
    const std::size_t count = bytes / element;
    if (parts != 0 && count % parts != 0) {
        c::refuse(std::string(to_string(op)) + ": a layout of " + std::to_string(count) +
                  " elements cannot hold equal parts of " + std::to_string(parts) + " ranks");
    }
    return parts == 0 ? 0 : count / parts;
}

c::Arguments arguments_of(corymb_collective number, const corymb_packed* input,
                          const corymb_packed* output, corymb_type type, corymb_op with, int root,
                          const Team& team) {
    const Collective op = c::op_of(number);
    if (op == Collective::barrier) {
        c::refuse("a packed operation moves data, a barrier has none: call corymb_barrier");
    }
    const auto all = has_parts(op) ? static_cast<std::uint32_t>(team.size()) : 1;
    const auto parts = [&](Buffer buffer) {
        return plan::parts_of(op, all, root, team.rank(), buffer);
    };
    const std::uint32_t in_parts = parts(Buffer::input);
    const std::uint32_t out_parts = parts(Buffer::output);
    const bool is_read = op == Collective::broadcast && team.rank() == root;
    auto buffers = std::make_shared<Buffers>(bytes_of(in_parts != 0 ? input : nullptr, type),
                                             bytes_of(out_parts != 0 ? output : nullptr, type),
                                             Buffers::Uses{is_read, !is_read});
    const std::size_t element = c::size_of(type);
    const std::size_t in = part_of(op, buffers->input().size(), in_parts, element);
    const std::size_t out = part_of(op, buffers->output().size(), out_parts, element);
    if (in_parts != 0 && out_parts != 0 && in != out) {
        c::refuse(std::string(to_string(op)) + ": the input has " + std::to_string(in) +
                  " elements a part, the output " + std::to_string(out));
    }
    c::Arguments made{op,
                      buffers->input().data(),
                      buffers->output().data(),
                      in_parts != 0 ? in : out,
                      type,
                      with,
                      root};
    made.staging = std::move(buffers);
    return made;
}

} // namespace

corymb_status corymb_run_packed(corymb_collective op, const corymb_packed* input,
                                const corymb_packed* output, corymb_type type, corymb_op with,
                                int root, corymb_team* team) noexcept {
    std::optional<c::Arguments> known;
    corymb_status status = c::guarded([&] {
        known = arguments_of(op, input, output, type, with, root, c::live(team).team);
        known->staging->before();
    });
    if (status == CORYMB_OK) {
        status = c::run(team, *known);
    }
    return status != CORYMB_OK ? status : c::guarded([&] { known->staging->after(); });
}

corymb_status corymb_start_packed(corymb_collective op, const corymb_packed* input,
                                  const corymb_packed* output, corymb_type type, corymb_op with,
                                  int root, corymb_team* team, corymb_request** request) noexcept {
    std::optional<c::Arguments> known;
    const corymb_status status = c::guarded([&] {
        c::require(request, "request");
        *request = nullptr;
        known = arguments_of(op, input, output, type, with, root, c::live(team).team);
        known->staging->before(); // A persistent one does so when it starts.
    });
    return status != CORYMB_OK ? status : c::start(team, *known, request);
}

corymb_status corymb_prepare_packed(corymb_collective op, const corymb_packed* input,
                                    const corymb_packed* output, corymb_type type, corymb_op with,
                                    int root, corymb_team* team,
                                    corymb_request** request) noexcept {
    std::optional<c::Arguments> known;
    const corymb_status status = c::guarded([&] {
        c::require(request, "request");
        *request = nullptr;
        known = arguments_of(op, input, output, type, with, root, c::live(team).team);
    });
    return status != CORYMB_OK ? status : c::make(team, *known, request);
}

corymb_status corymb_send_packed(const corymb_packed* data, corymb_type type, int to,
                                 corymb_team* team) noexcept {
    return c::guarded([&] { c::live(team).team.send(bytes_of(data, type), to); });
}

corymb_status corymb_isend_packed(const corymb_packed* data, corymb_type type, int to,
                                  corymb_team* team, corymb_request** request) noexcept {
    return c::give_request(team, request, [&](Team& own, corymb_request& made) {
        made.request = own.isend(bytes_of(data, type), to);
    });
}

corymb_status corymb_send_packed_init(const corymb_packed* data, corymb_type type, int to,
                                      corymb_team* team, corymb_request** request) noexcept {
    return c::give_request(team, request, [&](Team& own, corymb_request& made) {
        made.request = own.send_init(bytes_of(data, type), to);
    });
}

corymb_status corymb_recv_packed(const corymb_packed* data, corymb_type type, int from,
                                 corymb_team* team) noexcept {
    return c::guarded([&] { c::live(team).team.recv(bytes_of(data, type), from); });
}

corymb_status corymb_irecv_packed(const corymb_packed* data, corymb_type type, int from,
                                  corymb_team* team, corymb_request** request) noexcept {
    return c::give_request(team, request, [&](Team& own, corymb_request& made) {
        made.request = own.irecv(bytes_of(data, type), from);
    });
}

corymb_status corymb_recv_packed_init(const corymb_packed* data, corymb_type type, int from,
                                      corymb_team* team, corymb_request** request) noexcept {
    return c::give_request(team, request, [&](Team& own, corymb_request& made) {
        made.request = own.recv_init(bytes_of(data, type), from);
    });
}

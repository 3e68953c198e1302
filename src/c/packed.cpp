// SPDX-License-Identifier: Apache-2.0
// Operations on data that does not lie in one piece.
#include "c/calls.hpp"
#include "c/status.hpp"

#include <corymb/detail/staging.hpp>
#include <corymb/detail/untyped.hpp>

#include <cstddef>
#include <limits>
#include <memory>
#include <span>
#include <string>
#include <vector>

using namespace corymb;

namespace {

using detail::Untyped;

/// A layout's elements in one piece.
class Piece {
public:
    Piece(const corymb_packed* layout, std::size_t element, bool is_read, bool is_written)
        : is_read_(is_read), is_written_(is_written) {
        if (layout == nullptr || (!is_read && !is_written)) {
            return;
        }
        layout_ = *layout;
        if (layout_.count > std::numeric_limits<std::ptrdiff_t>::max() / element) {
            c::refuse("a packed layout of " + std::to_string(layout_.count) +
                      " elements does not fit into the address space");
        }
        require(!is_read || layout_.pack != nullptr, "pack");
        require(!is_written || layout_.unpack != nullptr, "unpack");
        bytes_.resize(layout_.count * element);
    }

    [[nodiscard]] std::size_t count() const noexcept { return layout_.count; }
    [[nodiscard]] std::span<std::byte> bytes() noexcept { return bytes_; }
    void pack() {
        if (is_read_ && layout_.count != 0) {
            layout_.pack(layout_.context, bytes_.data());
        }
    }
    void unpack() const {
        if (is_written_ && layout_.count != 0) {
            layout_.unpack(layout_.context, bytes_.data());
        }
    }

private:
    void require(bool holds, const char* function) const {
        if (!holds && layout_.count != 0) {
            c::refuse(std::string("the packed layout has no function ") + function +
                      ", which this operation needs");
        }
    }

    corymb_packed layout_{};
    bool is_read_;
    bool is_written_;
    std::vector<std::byte> bytes_;
};

struct Pieces final : detail::Staging {
    Pieces(Piece in, Piece out) : input(std::move(in)), output(std::move(out)) {}
    void before() override {
        input.pack();
        output.pack();
    }
    void after() override { output.unpack(); }

    Piece input;
    Piece output;
};

struct Collected {
    std::shared_ptr<Pieces> pieces;
    c::Arguments arguments;
};

/// Whether this rank's input, or output, has a part for each rank.
bool has_input_parts(Collective op) noexcept {
    return op == Collective::scatter || op == Collective::alltoall ||
           op == Collective::reduce_scatter;
}
bool has_output_parts(Collective op) noexcept {
    return op == Collective::gather || op == Collective::allgather || op == Collective::alltoall;
}

/// Of one part: `whole` elements, of which there are as many in each of `parts`.
std::size_t part_of(Collective op, std::size_t whole, std::size_t parts) {
    if (whole % parts != 0) {
        c::refuse(std::string(to_string(op)) + ": a layout of " + std::to_string(whole) +
                  " elements cannot hold equal parts of " + std::to_string(parts) + " ranks");
    }
    return whole / parts;
}

Collected collect(corymb_collective number, const corymb_packed* input, const corymb_packed* output,
                  corymb_type type, corymb_op with, int root, const Team& team) {
    const auto op = static_cast<Collective>(number);
    if (number <= CORYMB_BARRIER || number > CORYMB_EXSCAN) {
        c::refuse("a packed operation moves data: give one of the collectives but the barrier");
    }
    const auto ranks = static_cast<std::size_t>(team.size());
    const std::size_t element = c::size_of(type);
    const bool is_root = !is_rooted(op) || team.rank() == root;
    const bool is_broadcast = op == Collective::broadcast;
    const bool reads = !is_broadcast && (op != Collective::scatter || is_root);
    const bool writes = is_broadcast || op == Collective::scatter || is_root;
    const bool unpacks =
        is_broadcast ? !is_root : writes && (op != Collective::exscan || team.rank() != 0);
    auto pieces =
        std::make_shared<Pieces>(Piece(input, element, reads, false),
                                 Piece(output, element, is_broadcast && is_root, unpacks));
    const std::size_t in = part_of(op, pieces->input.count(), has_input_parts(op) ? ranks : 1);
    const std::size_t out = part_of(op, pieces->output.count(), has_output_parts(op) ? ranks : 1);
    if (reads && unpacks && in != out) {
        c::refuse(std::string(to_string(op)) + ": the input has " + std::to_string(in) +
                  " elements a part, the output " + std::to_string(out));
    }
    c::Arguments arguments{op,
                           pieces->input.bytes().data(),
                           pieces->output.bytes().data(),
                           reads ? in : out,
                           type,
                           with,
                           root};
    arguments.staging = pieces;
    return {std::move(pieces), std::move(arguments)};
}

using Begin = corymb_status (*)(corymb_team*, const c::Arguments&, corymb_request**) noexcept;

corymb_status begin_packed(corymb_collective op, const corymb_packed* input,
                           const corymb_packed* output, corymb_type type, corymb_op with, int root,
                           corymb_team* team, corymb_request** request, Begin begin) noexcept {
    Collected collected{nullptr, {Collective::broadcast, nullptr, nullptr, 0, type}};
    const corymb_status status = c::guarded([&] {
        c::require(request, "request");
        *request = nullptr;
        collected = collect(op, input, output, type, with, root, c::live(team).team);
        if (begin == &c::start) { // A persistent one packs when it starts.
            collected.pieces->before();
        }
    });
    return status != CORYMB_OK ? status : begin(team, collected.arguments, request);
}

std::shared_ptr<Pieces> outgoing(const corymb_packed* data, corymb_type type) {
    const std::size_t element = c::size_of(type);
    return std::make_shared<Pieces>(Piece(data, element, true, false),
                                    Piece(nullptr, element, false, false));
}

std::shared_ptr<Pieces> incoming(const corymb_packed* data, corymb_type type) {
    const std::size_t element = c::size_of(type);
    return std::make_shared<Pieces>(Piece(nullptr, element, false, false),
                                    Piece(data, element, false, true));
}

std::span<const std::byte> to_send(Pieces& pieces) noexcept {
    return pieces.input.bytes();
}

} // namespace

corymb_status corymb_run_packed(corymb_collective op, const corymb_packed* input,
                                const corymb_packed* output, corymb_type type, corymb_op with,
                                int root, corymb_team* team) noexcept {
    Collected collected{nullptr, {Collective::broadcast, nullptr, nullptr, 0, type}};
    corymb_status status = c::guarded([&] {
        collected = collect(op, input, output, type, with, root, c::live(team).team);
        collected.pieces->before();
    });
    if (status == CORYMB_OK) {
        status = c::run(team, collected.arguments);
    }
    return status != CORYMB_OK ? status : c::guarded([&] { collected.pieces->after(); });
}

corymb_status corymb_start_packed(corymb_collective op, const corymb_packed* input,
                                  const corymb_packed* output, corymb_type type, corymb_op with,
                                  int root, corymb_team* team, corymb_request** request) noexcept {
    return begin_packed(op, input, output, type, with, root, team, request, &c::start);
}

corymb_status corymb_prepare_packed(corymb_collective op, const corymb_packed* input,
                                    const corymb_packed* output, corymb_type type, corymb_op with,
                                    int root, corymb_team* team,
                                    corymb_request** request) noexcept {
    return begin_packed(op, input, output, type, with, root, team, request, &c::make);
}

corymb_status corymb_send_packed(const corymb_packed* data, corymb_type type, int to,
                                 corymb_team* team) noexcept {
    return c::guarded([&] {
        const auto pieces = outgoing(data, type);
        pieces->before();
        c::live(team).team.send(to_send(*pieces), to);
    });
}

corymb_status corymb_isend_packed(const corymb_packed* data, corymb_type type, int to,
                                  corymb_team* team, corymb_request** request) noexcept {
    return c::give_request(team, request, [&](Team& own, corymb_request& made) {
        const auto pieces = outgoing(data, type);
        pieces->before();
        made.request = Untyped::keeping(own.isend(to_send(*pieces), to), pieces);
    });
}

corymb_status corymb_send_packed_init(const corymb_packed* data, corymb_type type, int to,
                                      corymb_team* team, corymb_request** request) noexcept {
    return c::give_request(team, request, [&](Team& own, corymb_request& made) {
        const auto pieces = outgoing(data, type);
        made.request = Untyped::keeping(own.send_init(to_send(*pieces), to), pieces);
    });
}

corymb_status corymb_recv_packed(const corymb_packed* data, corymb_type type, int from,
                                 corymb_team* team) noexcept {
    return c::guarded([&] {
        const auto pieces = incoming(data, type);
        c::live(team).team.recv(pieces->output.bytes(), from);
        pieces->after();
    });
}

corymb_status corymb_irecv_packed(const corymb_packed* data, corymb_type type, int from,
                                  corymb_team* team, corymb_request** request) noexcept {
    return c::give_request(team, request, [&](Team& own, corymb_request& made) {
        const auto pieces = incoming(data, type);
        made.request = Untyped::keeping(own.irecv(pieces->output.bytes(), from), pieces);
    });
}

corymb_status corymb_recv_packed_init(const corymb_packed* data, corymb_type type, int from,
                                      corymb_team* team, corymb_request** request) noexcept {
    return c::give_request(team, request, [&](Team& own, corymb_request& made) {
        const auto pieces = incoming(data, type);
        made.request = Untyped::keeping(own.recv_init(pieces->output.bytes(), from), pieces);
    });
}

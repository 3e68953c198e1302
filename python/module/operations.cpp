// SPDX-License-Identifier: Apache-2.0
#include "operations.hpp"

#include <corymb/error.hpp>

#include <algorithm>
#include <cctype>
#include <string>

namespace corymb::python {

namespace {

[[noreturn]] void refuse(Collective op, const std::string& text) {
    throw Error(Errc::invalid_argument, method_of(op, false) + ": " + text);
}

/// What a rank does with its buffers.
struct Shape {
    bool reads;         ///< Uses the send buffer.
    bool writes;        ///< Uses the receive buffer.
    std::size_t in = 1; ///< Parts of each.
    std::size_t out = 1;
};

Shape shape_of(Collective op, bool is_root, std::size_t ranks) {
    switch (op) {
    case Collective::broadcast: return {false, true};
    case Collective::reduce: return {true, is_root};
    case Collective::gather: return {true, is_root, 1, ranks};
    case Collective::scatter: return {is_root, true, ranks, 1};
    case Collective::allgather: return {true, true, 1, ranks};
    case Collective::alltoall: return {true, true, ranks, ranks};
    case Collective::reduce_scatter: return {true, true, ranks, 1};
    default: return {true, true};
    }
}

std::string text_of(const Operand& operand) {
    return std::string(operand.name) + " of " + std::to_string(operand.count) + " elements of " +
           std::to_string(operand.element_bytes) + " bytes";
}

/// A buffer that this rank must give.
void need(Collective op, const Operand& operand, bool may_be_in_place) {
    if (operand.is_in_place && !may_be_in_place) {
        refuse(op, std::string(operand.name) + " cannot be IN_PLACE here");
    }
    if (operand.has_parts) {
        refuse(op, std::string(operand.name) + " has a list of counts; the operations for parts of "
                                               "different lengths end in v");
    }
}

/// Bytes of one part, from a buffer of `parts`.
std::size_t part_bytes(Collective op, const Operand& operand, std::size_t parts) {
    if (operand.count % parts != 0) {
        refuse(op,
               text_of(operand) + " cannot be divided among " + std::to_string(parts) + " ranks");
    }
    return operand.bytes() / parts;
}

/// Where the operation's buffers lie when sendbuf or recvbuf is IN_PLACE.
void place(CollectiveOperation& operation, Keep& keep, std::size_t part, Rank rank) {
    const std::size_t own = static_cast<std::size_t>(rank) * part;
    if (keep.recv.is_in_place) { // scatter: the root's part stays where it is.
        operation.output = keep.send.data + own;
        return;
    }
    switch (operation.op) {
    case Collective::gather:
    case Collective::allgather: operation.input = keep.recv.data + own; break;
    case Collective::alltoall:
    case Collective::reduce_scatter:
        keep.copy.resize(keep.recv.bytes());
        operation.input = keep.copy.data();
        break;
    default: operation.input = keep.recv.data; break;
    }
}

} // namespace

std::string method_of(Collective op, bool is_vector) {
    if (op == Collective::broadcast) {
        return "Bcast";
    }
    if (op == Collective::reduce_scatter) {
        return is_vector ? "Reduce_scatter" : "Reduce_scatter_block";
    }
    std::string name(to_string(op));
    name[0] = static_cast<char>(std::toupper(static_cast<unsigned char>(name[0])));
    return is_vector ? name + "v" : name;
}

std::uint32_t contents_of(const Arguments& arguments, const Operand& operand) noexcept {
    return arguments.contents != 0 ? arguments.contents : operand.contents;
}

Reduction reduction_for(const Arguments& arguments, const Operand& operand, Keep& keep) {
    if (const auto* const own = std::get_if<const UserOperator*>(&*arguments.with)) {
        if (*own == nullptr) {
            refuse(arguments.op, "op is None; give an operator, such as corymb.SUM");
        }
        return keep.reduction.emplace(**own, operand.element_bytes, operand.type).reduction();
    }
    if (!operand.type) {
        refuse(arguments.op, std::string(operand.name) + " has elements of format '" +
                                 operand.buffer.format() +
                                 "', which no operator combines; name a type, as in [buffer, "
                                 "corymb.DOUBLE], or make an operator (corymb.Op.Create)");
    }
    return reduction_of(*operand.type, std::get<Operator>(*arguments.with));
}

Prepared prepare(const Team& team, const Arguments& arguments) {
    if (arguments.is_vector) {
        return prepare_vector(team, arguments);
    }
    const Collective op = arguments.op;
    const auto ranks = static_cast<std::size_t>(std::max(team.size(), 1));
    const bool is_root = team.rank() == arguments.root;
    Shape shape = shape_of(op, is_root, ranks);
    Prepared made{{}, std::make_unique<Keep>()};
    Operand& send = made.keep->send;
    Operand& recv = made.keep->recv;
    if (shape.writes) {
        const char* const name = op == Collective::broadcast ? "buf" : "recvbuf";
        // Only the root of a broadcast keeps what it has.
        recv = Operand(arguments.recv, !(op == Collective::broadcast && is_root), name);
        need(op, recv, op == Collective::scatter && is_root);
    }
    if (shape.reads) {
        send = Operand(arguments.send, false, "sendbuf");
        need(op, send, shape.writes && op != Collective::scatter);
    }
    if (shape.reads && send.is_in_place && op == Collective::reduce_scatter) {
        shape.out = ranks; // recvbuf holds the input as well.
    }
    const bool by_recv =
        !shape.reads || send.is_in_place || (op == Collective::scatter && !recv.is_in_place);
    const Operand& leading = by_recv ? recv : send;
    const std::size_t part = part_bytes(op, leading, by_recv ? shape.out : shape.in);
    const bool both = shape.reads && shape.writes && !send.is_in_place && !recv.is_in_place;
    if (both && (send.bytes() != part * shape.in || recv.bytes() != part * shape.out)) {
        refuse(op, text_of(send) + " and " + text_of(recv) +
                       " do not fit each other in a team of " + std::to_string(ranks));
    }
    if (both && send.contents != recv.contents) {
        refuse(op, "sendbuf and recvbuf have elements of different types");
    }
    made.operation.op = op;
    made.operation.root = arguments.root;
    made.operation.input = shape.reads ? send.data : nullptr;
    made.operation.output = shape.writes ? recv.data : nullptr;
    made.operation.reduction.element_bytes = leading.element_bytes;
    made.operation.reduction.identity = contents_of(arguments, leading);
    if (is_reduction(op)) {
        made.operation.reduction = reduction_for(arguments, leading, *made.keep);
    }
    made.operation.count = part / leading.element_bytes;
    if (send.is_in_place || recv.is_in_place) {
        place(made.operation, *made.keep, part, team.rank());
    }
    return made;
}

} // namespace corymb::python

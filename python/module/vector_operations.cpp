// SPDX-License-Identifier: Apache-2.0
// The operations for parts of different lengths: read here, checked by the library.
#include "operations.hpp"

#include <corymb/error.hpp>

#include <algorithm>
#include <numeric>
#include <string>

namespace corymb::python {

namespace {

[[noreturn]] void refuse(Collective op, const std::string& text) {
    throw Error(Errc::invalid_argument, method_of(op, true) + ": " + text);
}

/// Without a list of counts all parts are equal.
void complete_parts(Collective op, Operand& operand, std::size_t ranks) {
    if (operand.has_parts) {
        return;
    }
    if (operand.count % ranks != 0) {
        refuse(op, std::string(operand.name) + " of " + std::to_string(operand.count) +
                       " elements cannot be divided among " + std::to_string(ranks) +
                       " ranks; name counts, as in [buffer, counts]");
    }
    operand.counts.assign(ranks, operand.count / ranks);
}

Parts parts_of(const Operand& operand) {
    return {operand.counts, operand.displacements};
}

/// Where this rank's part begins, in bytes; the library has not checked it yet.
std::size_t own_offset(Collective op, const Operand& operand, std::size_t own) {
    const auto& [counts, displacements] = parts_of(operand);
    if (counts.size() <= own || (!displacements.empty() && displacements.size() <= own)) {
        refuse(op, std::string(operand.name) + " has too few counts or displacements");
    }
    const std::size_t begin =
        displacements.empty()
            ? std::accumulate(counts.begin(), counts.begin() + static_cast<std::ptrdiff_t>(own),
                              std::size_t{0})
            : displacements[own];
    if (counts[own] > operand.count || begin > operand.count - counts[own]) {
        refuse(op, std::string(operand.name) + " has too few elements for its parts");
    }
    return begin * operand.element_bytes;
}

/// Reads what this rank uses.
void read(const Arguments& arguments, bool is_root, std::size_t ranks, Keep& keep) {
    const Collective op = arguments.op;
    const bool many_in =
        op == Collective::scatter || op == Collective::alltoall || op == Collective::reduce_scatter;
    const bool many_out = !many_in || op == Collective::alltoall;
    if (op != Collective::gather || is_root) {
        keep.recv = Operand(arguments.recv, true, "recvbuf");
        if (many_out) {
            complete_parts(op, keep.recv, ranks);
        }
    }
    if (op != Collective::scatter || is_root) {
        keep.send = Operand(arguments.send, false, "sendbuf");
        if (arguments.counts.is_valid() && !arguments.counts.is_none()) {
            keep.send.has_parts = true;
            keep.send.counts = sizes_of(arguments.counts, "recvcounts");
        } else if (op == Collective::reduce_scatter && keep.send.is_in_place) {
            refuse(op, "in place it needs recvcounts");
        }
        if (many_in && !keep.send.is_in_place) {
            complete_parts(op, keep.send, ranks);
        }
    }
    const bool may_send_in_place = op == Collective::gather ? is_root : op != Collective::scatter;
    const bool may_receive_in_place = op == Collective::scatter && is_root;
    if ((keep.send.is_in_place && !may_send_in_place) ||
        (keep.recv.is_in_place && !may_receive_in_place)) {
        refuse(op, "a buffer cannot be IN_PLACE here");
    }
}

void place(CollectiveOperation& operation, Keep& keep, std::size_t own) {
    if (keep.recv.is_in_place) { // scatter
        operation.output = keep.send.data + own_offset(operation.op, keep.send, own);
        operation.count = operation.output_size = keep.send.counts[own];
    } else if (operation.op == Collective::gather || operation.op == Collective::allgather) {
        operation.input = keep.recv.data + own_offset(operation.op, keep.recv, own);
        operation.count = operation.input_size = keep.recv.counts[own];
    } else {
        keep.copy.resize(keep.recv.bytes());
        operation.input = keep.copy.data();
        operation.input_size = keep.recv.count;
        if (operation.op == Collective::alltoall) {
            operation.input_parts = operation.output_parts;
        } else if (own < keep.send.counts.size()) {
            operation.count = keep.send.counts[own];
        }
    }
}

} // namespace

Prepared prepare_vector(const Team& team, const Arguments& arguments) {
    const Collective op = arguments.op;
    const auto own = static_cast<std::size_t>(std::max(team.rank(), 0));
    Prepared made{{}, std::make_unique<Keep>()};
    Operand& send = made.keep->send;
    Operand& recv = made.keep->recv;
    read(arguments, team.rank() == arguments.root,
         static_cast<std::size_t>(std::max(team.size(), 1)), *made.keep);
    const bool both = send.data != nullptr && recv.data != nullptr;
    if (both && send.contents != recv.contents) {
        refuse(op, "sendbuf and recvbuf have elements of different types");
    }
    const Operand& leading = send.data != nullptr ? send : recv;
    CollectiveOperation& operation = made.operation;
    operation.op = op;
    operation.root = arguments.root;
    operation.is_vector = true;
    operation.input = send.data;
    operation.output = recv.data;
    operation.input_size = send.count;
    operation.output_size = recv.count;
    operation.input_parts = parts_of(send);
    operation.output_parts = parts_of(recv);
    const bool one_in = op == Collective::gather || op == Collective::allgather;
    operation.count = one_in ? send.count : recv.count;
    operation.reduction.element_bytes = leading.element_bytes;
    operation.reduction.identity = contents_of(arguments, leading);
    if (arguments.with) {
        operation.reduction = reduction_for(arguments, leading, *made.keep);
    }
    if (send.is_in_place || recv.is_in_place) {
        place(operation, *made.keep, own);
    }
    return made;
}

} // namespace corymb::python

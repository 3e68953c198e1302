// SPDX-License-Identifier: Apache-2.0
#include "team/call.hpp"

#include "team/member.hpp"

#include "plan/channel_room.hpp"
#include "plan/places.hpp"

#include <corymb/detail/typed_calls.hpp>

#include <cstdint>
#include <limits>
#include <string>

namespace corymb::detail {

namespace {

[[noreturn]] void refuse(const std::string& text) {
    throw Error(Errc::invalid_argument, text);
}

void check_pointer(const void* data, std::size_t bytes, const char* what) {
    if (data == nullptr && bytes != 0) {
        refuse(std::string(what) + " is null but has " + std::to_string(bytes) + " bytes");
    }
}

/// How many parts of a collective this rank reads and writes; 0: the buffer is not used here.
struct PartCounts {
    std::size_t in;
    std::size_t out;
};

PartCounts parts_of(const CollectiveOperation& operation, Rank rank, std::size_t ranks) {
    const auto all = has_parts(operation.op) ? static_cast<std::uint32_t>(ranks) : 1;
    return {plan::parts_of(operation.op, all, operation.root, rank, Buffer::input),
            plan::parts_of(operation.op, all, operation.root, rank, Buffer::output)};
}

/// Input and output may be apart, or lie where a plan may take them for the same (plan.hpp).
void check_overlap(const CollectiveOperation& operation, const PartCounts& parts, std::size_t bytes,
                   Rank rank) {
    const auto in = reinterpret_cast<std::uintptr_t>(operation.input);
    const auto out = reinterpret_cast<std::uintptr_t>(operation.output);
    const std::size_t in_bytes = parts.in * bytes;
    const std::size_t out_bytes = parts.out * bytes;
    if (in_bytes == 0 || out_bytes == 0 || in >= out + out_bytes || out >= in + in_bytes) {
        return;
    }
    const std::size_t place = static_cast<std::size_t>(rank) * bytes;
    const bool in_place =
        operation.op != Collective::alltoall && (parts.in == parts.out ? in == out
                                                 : parts.out > 1       ? in == out + place
                                                                       : out == in + place);
    if (!in_place) {
        refuse(std::string(to_string(operation.op)) +
               ": input and output overlap; they must be apart, or in place where the operation "
               "allows it");
    }
}

/// Parts of equal lengths.
Call equal_call(Rank rank, int size, const CollectiveOperation& operation) {
    const std::size_t element = operation.reduction.element_bytes;
    const auto ranks = static_cast<std::size_t>(size);
    std::size_t bytes = 0;
    std::size_t all_bytes = 0;
    if (__builtin_mul_overflow(operation.count, element, &bytes) ||
        __builtin_mul_overflow(bytes, ranks, &all_bytes) ||
        all_bytes > std::numeric_limits<std::ptrdiff_t>::max()) {
        refuse(std::to_string(operation.count) + " elements of " + std::to_string(element) +
               " bytes for each of " + std::to_string(size) +
               " ranks do not fit into the address space");
    }
    const PartCounts parts = parts_of(operation, rank, ranks);
    check_pointer(operation.input, parts.in * bytes, "the input");
    check_pointer(operation.output, parts.out * bytes, "the output");
    check_overlap(operation, parts, bytes, rank);
    Call call;
    call.key = {operation.op, operation.root, team::size_class(bytes),
                is_reduction(operation.op) && !operation.reduction.commutative};
    call.is_nothing = bytes == 0;
    call.operands.input = static_cast<const std::byte*>(operation.input);
    call.operands.output = static_cast<std::byte*>(operation.output);
    call.operands.bytes = bytes;
    call.input_bytes = parts.in * bytes;
    call.output_bytes = parts.out * bytes;
    // Whole lines are not shared between blocks; a payload within one line is one block.
    call.operands.element_bytes = bytes % cache_line_bytes == 0 ? cache_line_bytes : std::size_t{1};
    call.terms = team::terms_of(operation.is_scatter ? Collective::reduce_scatter : operation.op,
                                operation.root, bytes, operation.reduction.identity);
    return call;
}

void check_operation(const CollectiveOperation& operation, int size) {
    if (static_cast<std::size_t>(operation.op) >= collective_count) {
        refuse("there is no operation " + std::to_string(static_cast<int>(operation.op)));
    }
    check_rank(operation.root, size, "root");
    if (operation.root != 0 && !is_rooted(operation.op)) {
        refuse(std::string(to_string(operation.op)) + " has no root; leave it 0");
    }
    if (operation.op == Collective::barrier) {
        return;
    }
    const Reduction& reduction = operation.reduction;
    if (reduction.element_bytes == 0) {
        refuse(std::string(to_string(operation.op)) +
               ": the size of the elements is missing; set `reduction` to that of reduction_of, or "
               "of move_of where nothing is combined");
    }
    if (is_reduction(operation.op) && reduction.combine == nullptr) {
        refuse(std::string(to_string(operation.op)) +
               ": the operator is missing; set `reduction` to that of reduction_of");
    }
    if (is_reduction(operation.op) && reduction.element_bytes > cell_bytes) {
        refuse("an element of a reduction may have at most " + std::to_string(cell_bytes) +
               " bytes");
    }
}

/// The kernel of a standard operator. The headers' function looks it up at each call; this one is
/// the kernel itself.
Reduction::Combine combine_of(const Reduction& reduction) {
    if (reduction.identity == 0) {
        return reduction.combine;
    }
    return reduction_of(type_of_identity(reduction.identity),
                        operator_of_identity(reduction.identity))
        .combine;
}

/// Both ends get the same answer. A long message within a process is copied once, out of the
/// sender's buffer. Between processes two copies through cells overlap and are faster than one of
/// the kernel (1.5 to 2.2 times on two CPUs of one package), unless the ends take turns on a CPU.
Mechanism mechanism_of_message(TeamShared& shared, std::size_t bytes, Rank peer) {
    if (bytes <= line_payload_bytes) {
        return Mechanism::line;
    }
    const bool is_pulled =
        shared.is_elsewhere(peer)
            ? shared.company->pull && shared.oversubscribed && bytes > plan::cell_ring_bytes_least
            : bytes >= plan::cell_ring_bytes_least;
    return is_pulled ? Mechanism::pull : Mechanism::cells;
}

/// Whether each order of combining gives the same bits. This is known of integers alone.
bool is_exact(const Reduction& reduction) {
    if (reduction.identity == 0) {
        return false; // The user's operator.
    }
    switch (type_of_identity(reduction.identity)) {
    case ElementType::float16:
    case ElementType::bfloat16:
    case ElementType::float32:
    case ElementType::float64:
    case ElementType::complex64:
    case ElementType::complex128:
    case ElementType::float32_index32:
    case ElementType::float64_index32:
    case ElementType::float32_index64:
    case ElementType::float64_index64: return false;
    default: return true;
    }
}

void set_operator(Call& call, const CollectiveOperation& operation) {
    if (is_reduction(operation.op)) {
        call.operands.element_bytes = operation.reduction.element_bytes;
        call.operands.combine = combine_of(operation.reduction);
        call.operands.context = operation.reduction.context;
        call.operands.is_whole = operation.reduction.whole;
    }
}

} // namespace

void refuse_counts(Collective op, std::size_t input, std::size_t output, int ranks) {
    if (has_parts(op)) {
        refuse(std::string(to_string(op)) + ": input of " + std::to_string(input) +
               " and output of " + std::to_string(output) +
               " elements do not fit each other in a team of " + std::to_string(ranks));
    }
    refuse(std::string(to_string(op)) + ": the output has " + std::to_string(output) +
           " elements, the input " + std::to_string(input) + "; they must be as many");
}

void check_rank(Rank rank, int size, const char* what) {
    if (rank < 0 || rank >= size) {
        refuse(std::string(what) + " " + std::to_string(rank) +
               " is out of range; the team has ranks 0 to " + std::to_string(size - 1));
    }
}

Call collective_call(const Member& member, const CollectiveOperation& operation) {
    Call call = collective_call(member.whole_rank, member.whole_size, operation);
    if (member.shared->is_reproducible(operation.op)) {
        call.key.reproducible = true;
        call.terms = team::reproducible(call.terms);
    } else {
        call.key.stays = is_reduction(operation.op) && !is_exact(operation.reduction);
    }
    return call;
}

Call collective_call(Rank rank, int size, const CollectiveOperation& operation) {
    check_operation(operation, size);
    if (operation.op == Collective::barrier) {
        return {}; // All barriers are one call.
    }
    Call call = operation.is_vector ? vector_call(rank, size, operation)
                                    : equal_call(rank, size, operation);
    set_operator(call, operation);
    call.identity = operation.reduction.identity;
    call.key.one_block = operation.reduction.whole && is_reduction(operation.op);
    if (call.key.ordered) {
        call.terms = team::in_rank_order(call.terms);
    }
    return call;
}

PairCall pair_call(const Member& member, team::Direction direction, void* data, std::size_t bytes,
                   Rank peer) {
    check_rank(peer, member.shared->fabric.size(), "peer");
    check_pointer(data, bytes, "the data of a message");
    PairCall call;
    call.key = {peer, direction, mechanism_of_message(*member.shared, bytes, peer)};
    call.operands.input = static_cast<const std::byte*>(data);
    call.operands.output = static_cast<std::byte*>(data);
    call.operands.bytes = bytes;
    team::CallDigest digest;
    digest.add(team::message_terms(bytes));
    call.operands.signature = digest.signature();
    return call;
}

} // namespace corymb::detail

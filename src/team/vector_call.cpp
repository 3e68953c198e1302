// SPDX-License-Identifier: Apache-2.0
// Calls whose parts differ in length: their layouts in bytes, and what must be true of them.
#include "plan/places.hpp"
#include "team/call.hpp"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

namespace corymb::detail {

namespace {

[[noreturn]] void refuse(Collective op, const std::string& text) {
    throw Error(Errc::invalid_argument, std::string(to_string(op)) + "v: " + text);
}

/// One of the two buffers of a call: one part, one for every rank, or none.
struct Side {
    const char* name;
    const void* buffer;
    const Parts* parts; ///< Null: a single part.
    std::size_t limit;  ///< Elements that the buffer has.
    std::size_t part_count;
    std::size_t* offsets = nullptr;
    std::size_t* lengths = nullptr;

    [[nodiscard]] std::uintptr_t begin(std::size_t part) const {
        return reinterpret_cast<std::uintptr_t>(buffer) + offsets[part];
    }
    [[nodiscard]] std::uintptr_t end(std::size_t part) const { return begin(part) + lengths[part]; }
    /// Bytes from the beginning of the buffer to the end of the part that ends last.
    [[nodiscard]] std::size_t reach() const {
        std::size_t bytes = 0;
        for (std::size_t part = 0; part < part_count; ++part) {
            bytes = std::max(bytes, offsets[part] + lengths[part]);
        }
        return bytes;
    }
    [[nodiscard]] std::size_t longest() const {
        return part_count == 0 ? 0 : *std::max_element(lengths, lengths + part_count);
    }
};

struct Sides {
    Side in, out;
};

Sides sides_of(const CollectiveOperation& operation, Rank rank, std::uint32_t ranks) {
    if (!has_parts(operation.op)) {
        refuse(operation.op, "there is no such operation");
    }
    const auto side = [&](Buffer buffer, const void* memory, const Parts& parts, std::size_t size) {
        // With a whole of two parts a buffer of many has two.
        const bool is_many =
            plan::parts_of(operation.op, 2, operation.root, operation.root, buffer) == 2;
        return Side{buffer == Buffer::input ? "input" : "output", memory,
                    is_many ? &parts : nullptr, size,
                    plan::parts_of(operation.op, ranks, operation.root, rank, buffer)};
    };
    return {side(Buffer::input, operation.input, operation.input_parts, operation.input_size),
            side(Buffer::output, operation.output, operation.output_parts, operation.output_size)};
}

/// Fills in where the parts lie, in bytes. Empty parts lie at the beginning.
void lay_out(const CollectiveOperation& operation, const Side& side) {
    const std::size_t element = operation.reduction.element_bytes;
    const std::size_t limit =
        std::min<std::size_t>(side.limit, std::numeric_limits<std::ptrdiff_t>::max() / element);
    const auto lay = [&](std::size_t part, std::size_t begin, std::size_t count) {
        if (count != 0 && (count > limit || begin > limit - count)) {
            refuse(operation.op, "part " + std::to_string(part) + " of the " + side.name + " has " +
                                     std::to_string(count) + " elements from element " +
                                     std::to_string(begin) + " on, but the buffer has only " +
                                     std::to_string(limit));
        }
        side.offsets[part] = count == 0 ? 0 : begin * element;
        side.lengths[part] = count * element;
    };
    if (side.part_count == 0) {
        return;
    }
    if (side.parts == nullptr) {
        lay(0, 0, operation.count);
    } else {
        const auto& [counts, displacements] = *side.parts;
        if (counts.size() != side.part_count ||
            (!displacements.empty() && displacements.size() != side.part_count)) {
            refuse(operation.op, std::to_string(counts.size()) + " counts and " +
                                     std::to_string(displacements.size()) +
                                     " displacements for the " + side.name + "; a team of " +
                                     std::to_string(side.part_count) +
                                     " needs as many counts, and as many displacements or none");
        }
        std::size_t next = 0;
        for (std::size_t part = 0; part < counts.size(); ++part) {
            lay(part, displacements.empty() ? next : displacements[part], counts[part]);
            next += counts[part]; // Without displacements it is within the limit.
        }
    }
    if (side.buffer == nullptr && side.longest() != 0) {
        refuse(operation.op, "the " + std::string(side.name) + " is null but has " +
                                 std::to_string(side.longest()) + " bytes in one part");
    }
}

/// Parts that are not empty, by address.
std::vector<std::size_t> by_address(const Side& side) {
    std::vector<std::size_t> order;
    for (std::size_t part = 0; part < side.part_count; ++part) {
        if (side.lengths[part] != 0) {
            order.push_back(part);
        }
    }
    std::ranges::sort(order, {}, [&](std::size_t part) { return side.begin(part); });
    return order;
}

/// From the first byte of all parts to behind the last one.
struct Span {
    std::uintptr_t begin = std::numeric_limits<std::uintptr_t>::max();
    std::uintptr_t end = 0;
};

Span span_of(const Side& side) {
    Span span;
    for (std::size_t part = 0; part < side.part_count; ++part) {
        if (side.lengths[part] != 0) {
            span.begin = std::min(span.begin, side.begin(part));
            span.end = std::max(span.end, side.end(part));
        }
    }
    return span;
}

/// Each part that is not empty begins where the one before it ends, or later.
bool lie_in_order(const Side& side) {
    std::uintptr_t end = 0;
    for (std::size_t part = 0; part < side.part_count; ++part) {
        if (side.lengths[part] != 0) {
            if (side.begin(part) < end) {
                return false;
            }
            end = side.end(part);
        }
    }
    return true;
}

void check_outputs_apart(const CollectiveOperation& operation, const Side& out) {
    if (out.parts == nullptr || out.parts->displacements.empty() || lie_in_order(out)) {
        return;
    }
    const std::vector<std::size_t> order = by_address(out);
    for (std::size_t i = 1; i < order.size(); ++i) {
        if (out.begin(order[i]) < out.end(order[i - 1])) {
            refuse(operation.op, "parts " + std::to_string(order[i - 1]) + " and " +
                                     std::to_string(order[i]) + " of the output overlap");
        }
    }
}

/// The single part of this rank may be its part in the other buffer.
bool is_in_place(const CollectiveOperation& operation, const Sides& sides, std::size_t own) {
    const auto& [in, out] = sides;
    return operation.op != Collective::alltoall && in.part_count != 0 && out.part_count != 0 &&
           in.begin(in.parts != nullptr ? own : 0) == out.begin(out.parts != nullptr ? own : 0);
}

/// Checks that input and output share no byte except for parts in place.
void check_overlap(const CollectiveOperation& operation, const Sides& sides, std::size_t own) {
    const Side& in = sides.in;
    const Side& out = sides.out;
    const Span read = span_of(in);
    const Span written = span_of(out);
    if (read.end <= written.begin || written.end <= read.begin) {
        return;
    }
    std::vector<std::size_t> inputs = by_address(in);
    const std::vector<std::size_t> outputs = by_address(out);
    if (is_in_place(operation, sides, own)) {
        std::erase(inputs, in.parts != nullptr ? own : 0);
    }
    std::vector<std::uintptr_t> reach; // How far the inputs up to this one reach.
    for (const std::size_t part : inputs) {
        reach.push_back(std::max(in.end(part), reach.empty() ? 0 : reach.back()));
    }
    for (const std::size_t part : outputs) {
        const auto after = std::ranges::lower_bound(inputs, out.end(part), {},
                                                    [&](std::size_t one) { return in.begin(one); });
        const auto before = static_cast<std::size_t>(after - inputs.begin());
        if (before != 0 && reach[before - 1] > out.begin(part)) {
            refuse(operation.op, "input and output overlap in part " + std::to_string(part) +
                                     " of the output; they must be apart, or in place where the "
                                     "operation allows it");
        }
    }
}

/// Digest of the counts that all ranks must agree on.
std::uint64_t digest_of(const CollectiveOperation& operation) {
    const Parts& parts =
        operation.op == Collective::allgather ? operation.output_parts : operation.input_parts;
    team::CallDigest digest;
    for (const std::size_t count : parts.counts) {
        digest.add({1, count});
    }
    return digest.value();
}

/// Checks that the part that stays on this rank is as long in both buffers.
void check_own_part(const CollectiveOperation& operation, const Sides& sides, std::size_t own) {
    const auto& [in, out] = sides;
    if (in.part_count == 0 || out.part_count == 0) {
        return;
    }
    const std::size_t element = operation.reduction.element_bytes;
    const std::size_t from = in.lengths[in.parts != nullptr ? own : 0] / element;
    const std::size_t to = out.lengths[out.parts != nullptr ? own : 0] / element;
    if (from != to) {
        refuse(operation.op, "part " + std::to_string(own) + ", which is this rank's, has " +
                                 std::to_string(from) + " elements in the input and " +
                                 std::to_string(to) + " in the output");
    }
}

} // namespace

Call vector_call(Rank rank, int size, const CollectiveOperation& operation) {
    const auto own = static_cast<std::size_t>(rank);
    Sides sides = sides_of(operation, rank, static_cast<std::uint32_t>(size));
    auto& [in, out] = sides;
    const auto layout = std::make_shared<std::size_t[]>(2 * (in.part_count + out.part_count));
    in.offsets = layout.get();
    in.lengths = in.offsets + in.part_count;
    out.offsets = in.lengths + in.part_count;
    out.lengths = out.offsets + out.part_count;
    lay_out(operation, in);
    lay_out(operation, out);
    check_own_part(operation, sides, own);
    check_outputs_apart(operation, out);
    check_overlap(operation, sides, own);

    Call call;
    // Ranks must ask for the same plan, so its size class can only come from what all of them know.
    const std::size_t longest = std::max(in.longest(), out.longest());
    const bool all_know = plan::knows_all_lengths(operation.op);
    call.key = {operation.op, operation.root, all_know ? team::size_class(longest) : any_part_bytes,
                is_reduction(operation.op) && !operation.reduction.commutative, true};
    call.is_nothing = all_know && longest == 0;
    call.layout = layout;
    call.terms =
        team::vector_terms_of(operation.op, operation.root, all_know ? digest_of(operation) : 0,
                              operation.reduction.identity);
    call.operands.input = static_cast<const std::byte*>(operation.input);
    call.operands.output = static_cast<std::byte*>(operation.output);
    call.operands.input_layout = {in.offsets, in.lengths};
    call.operands.output_layout = {out.offsets, out.lengths};
    call.operands.bytes = longest;
    call.input_bytes = in.reach();
    call.output_bytes = out.reach();
    return call;
}

} // namespace corymb::detail

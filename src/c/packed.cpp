// SPDX-License-Identifier: Apache-2.0
// Operations on data that does not lie in one piece.
#include "c/operation.hpp"
#include "plan/places.hpp"

#include <corymb/detail/staged_buffers.hpp>

#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <span>
#include <string>

namespace corymb::c {

Packed<std::byte> bytes_of(const corymb_packed* layout, corymb_type type) {
    const std::size_t element = size_of(type);
    Packed<std::byte> made;
    if (layout == nullptr) {
        return made;
    }
    if (layout->count > std::numeric_limits<std::ptrdiff_t>::max() / element) {
        refuse("a packed layout of " + std::to_string(layout->count) +
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

namespace {

/// Elements of one of `parts` equal parts, which are `bytes` long together.
std::size_t part_of(Collective op, std::size_t bytes, std::uint32_t parts, std::size_t element) {
    const std::size_t count = bytes / element;
    if (parts != 0 && count % parts != 0) {
        refuse(std::string(to_string(op)) + ": a layout of " + std::to_string(count) +
               " elements cannot hold equal parts of " + std::to_string(parts) + " ranks");
    }
    return parts == 0 ? 0 : count / parts;
}

} // namespace

Arguments packed_arguments(const corymb_operation& operation, const Team& team) {
    const Collective op = op_of(operation.op);
    if (op == Collective::barrier) {
        refuse("a packed operation moves data, a barrier has none: call corymb_barrier");
    }
    if (operation.parts != nullptr) {
        refuse("a packed operation has parts of one length; leave `parts` NULL");
    }
    const auto all = has_parts(op) ? static_cast<std::uint32_t>(team.size()) : 1;
    const auto parts = [&](Buffer buffer) {
        return plan::parts_of(op, all, operation.root, team.rank(), buffer);
    };
    const std::uint32_t in_parts = parts(Buffer::input);
    const std::uint32_t out_parts = parts(Buffer::output);
    auto buffers = std::make_shared<detail::StagedBuffers<std::byte>>(
        bytes_of(in_parts != 0 ? operation.packed_input : nullptr, operation.type),
        bytes_of(out_parts != 0 ? operation.packed_output : nullptr, operation.type),
        detail::uses_of(op, team.rank(), operation.root));
    const auto& [input, output] = buffers->buffers();
    const std::size_t element = size_of(operation.type);
    const std::size_t in = part_of(op, input.size(), in_parts, element);
    const std::size_t out = part_of(op, output.size(), out_parts, element);
    if (in_parts != 0 && out_parts != 0 && in != out) {
        refuse(std::string(to_string(op)) + ": the input has " + std::to_string(in) +
               " elements a part, the output " + std::to_string(out));
    }
    Arguments made{op,
                   input.data(),
                   output.data(),
                   in_parts != 0 ? in : out,
                   operation.type,
                   operation.with,
                   operation.root};
    made.staging = std::move(buffers);
    return made;
}

} // namespace corymb::c

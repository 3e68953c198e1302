// SPDX-License-Identifier: Apache-2.0
// Where the places that a step names lie in the buffers of a call.
#pragma once

#include "team/addresses.hpp"
#include "team/program.hpp"

#include <algorithm>
#include <cstddef>

namespace corymb::team {

/// Bytes from the beginning of a buffer to a block of a part when all parts are equally long.
inline std::size_t bytes_before(const Operands& operands, std::size_t part,
                                std::size_t block) noexcept {
    return part * operands.bytes + std::min(operands.bytes, block * operands.block_bytes);
}

/// The length of `places` when all parts are equally long.
inline std::size_t length_of_equal(const Operands& operands, const Places& places) noexcept {
    return bytes_before(operands, places.end_part, places.end_block) -
           bytes_before(operands, places.first_part, places.first_block);
}

/// The part of a publication that a read takes, which is `bytes` long for the reader. A publication
/// that has not the length of this call is of another one; then the part gets another length.
inline Address excerpt_of(const Operands& operands, const Excerpt& excerpt,
                          const Address& published, std::size_t bytes) noexcept {
    const bool is_of_call = published.bytes == length_of_equal(operands, excerpt.published);
    return {published.data + length_of_equal(operands, excerpt.passed),
            is_of_call ? bytes : bytes + 1};
}

/// The bytes of `places` when all parts are equally long.
inline Address bytes_of_equal(const std::byte* buffer, const Operands& operands,
                              const Places& places) noexcept {
    return {buffer + bytes_before(operands, places.first_part, places.first_block),
            length_of_equal(operands, places)};
}

/// Whole parts that follow each other are one stretch of bytes (Layout).
inline Address bytes_of_layout(const std::byte* buffer, const Layout& layout,
                               const Operands& operands, const Places& places,
                               std::size_t block_count) noexcept {
    const std::size_t part = places.first_part;
    const std::size_t bytes = layout.lengths[part];
    const std::size_t elements = bytes / operands.element_bytes;
    const std::size_t block = (elements + block_count - 1) / block_count * operands.element_bytes;
    const std::size_t begin = std::min(bytes, places.first_block * block);
    if (places.end_part > part) {
        const std::size_t last = places.end_part - 1;
        const std::size_t end = layout.offsets[last] + layout.lengths[last];
        return {buffer + layout.offsets[part] + begin, end - layout.offsets[part] - begin};
    }
    const std::size_t end = std::min(bytes, places.end_block * block);
    return {buffer + layout.offsets[part] + begin, end - begin};
}

inline Address bytes_in(const std::byte* buffer, const Layout& layout, const Operands& operands,
                        const Places& places, std::size_t block_count) noexcept {
    if (layout.lengths != nullptr) [[unlikely]] {
        return bytes_of_layout(buffer, layout, operands, places, block_count);
    }
    return places.is_one_part ? Address{buffer, operands.bytes}
                              : bytes_of_equal(buffer, operands, places);
}

/// In a plan whose parts have `block_count` blocks, at least 1.
inline Address bytes_of(const Operands& operands, const Places& places,
                        std::size_t block_count) noexcept {
    switch (places.buffer) {
    case Buffer::input:
        return bytes_in(operands.input, operands.input_layout, operands, places, block_count);
    case Buffer::output:
        return bytes_in(operands.output, operands.output_layout, operands, places, block_count);
    case Buffer::scratch: break;
    }
    return bytes_in(operands.scratch, operands.scratch_layout, operands, places, block_count);
}

} // namespace corymb::team

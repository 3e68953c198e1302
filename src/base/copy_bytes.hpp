// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

namespace corymb {

/// Copies `count` bytes; nothing may be at no address. Those of one or two elements go through
/// registers: the call would take a good part of a small message's time.
inline void copy_bytes(void* to, const void* from, std::size_t count) noexcept {
    constexpr std::size_t word = sizeof(std::uint64_t);
    if (count - word <= word) { // One word to two, which overlap in between.
        const std::size_t last = count - word;
        std::uint64_t head = 0;
        std::uint64_t tail = 0;
        std::memcpy(&head, from, word);
        std::memcpy(&tail, static_cast<const std::byte*>(from) + last, word);
        std::memcpy(to, &head, word);
        std::memcpy(static_cast<std::byte*>(to) + last, &tail, word);
    } else if (count != 0) {
        std::memcpy(to, from, count);
    }
}

} // namespace corymb

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>

namespace corymb {

/// Whether a copy between these places meets a weakness of processors with a fast `rep movsb`
/// (AMD's from Zen 3 on): where `to` lies 1 to 31 bytes behind `from` within their pages, that
/// instruction takes up to thirty times as long. C libraries use it from 2 KiB on, Linux always.
[[nodiscard]] inline bool lie_badly(const void* to, const void* from) noexcept {
    constexpr std::uintptr_t page = 4096;
    constexpr std::uintptr_t bad = 31;
    const auto behind = std::bit_cast<std::uintptr_t>(to) - std::bit_cast<std::uintptr_t>(from);
    return (behind - 1) % page < bad;
}

/// For places that lie badly: pieces so short that every C library copies them by registers.
inline void copy_in_pieces(void* to, const void* from, std::size_t count) noexcept {
    constexpr std::size_t piece = 1024;
    auto* out = static_cast<std::byte*>(to);
    const auto* in = static_cast<const std::byte*>(from);
    for (; count > piece; count -= piece, out += piece, in += piece) {
        std::memcpy(out, in, piece);
    }
    std::memcpy(out, in, count);
}

/// Copies `count` bytes; an empty range may be null. Counts of one or two elements go through
/// registers: a call would take a good part of a small message's time.
inline void copy_bytes(void* to, const void* from, std::size_t count) noexcept {
    constexpr std::size_t word = sizeof(std::uint64_t);
    constexpr std::size_t long_copy = 2048; // From here on `rep movsb` may be used.
    if (count - word <= word) {             // Two words that overlap cover one word to two.
        const std::size_t last = count - word;
        std::uint64_t head = 0;
        std::uint64_t tail = 0;
        std::memcpy(&head, from, word);
        std::memcpy(&tail, static_cast<const std::byte*>(from) + last, word);
        std::memcpy(to, &head, word);
        std::memcpy(static_cast<std::byte*>(to) + last, &tail, word);
    } else if (count >= long_copy && lie_badly(to, from)) [[unlikely]] {
        copy_in_pieces(to, from, count);
    } else if (count != 0) {
        std::memcpy(to, from, count);
    }
}

} // namespace corymb

// SPDX-License-Identifier: Apache-2.0
// The slots of message channels: as many and as large as the channel's maker says, each a word and
// after it the payload, in whole cache lines. A message of up to 56 bytes is one line.
#pragma once

#include "base/cache_line.hpp"

#include <bit>
#include <cstddef>
#include <cstdint>
#include <new>

namespace corymb::channel {

/// Longest payload that the words of slots can tell.
inline constexpr std::size_t message_bytes_most = (std::size_t{1} << 24U) - 2;

struct SlotShape {
    std::uint64_t slots = 1; ///< A power of two.
    std::size_t stride = cache_line_bytes;

    /// At least `slots` slots for messages of up to `bytes` <= message_bytes_most.
    static constexpr SlotShape of(std::uint64_t slots, std::size_t bytes) noexcept {
        const std::size_t whole = sizeof(std::uint64_t) + bytes;
        return {std::bit_ceil(slots),
                (whole + cache_line_bytes - 1) / cache_line_bytes * cache_line_bytes};
    }
    [[nodiscard]] constexpr std::size_t bytes() const noexcept { return slots * stride; }
    [[nodiscard]] constexpr std::size_t payload_bytes() const noexcept {
        return stride - sizeof(std::uint64_t);
    }
};

/// A message in its slot.
struct SlotMessage {
    const std::byte* bytes = nullptr;
    std::size_t length = 0;
    std::uint32_t source = 0; ///< The sender, where the ring has several.
};

/// Slots that follow the object of a channel in the same memory, so that no address is stored.
template <class Env>
class MessageSlots {
public:
    using Word = typename Env::template Atomic<std::uint64_t>;
    static_assert(sizeof(Word) == sizeof(std::uint64_t));

    MessageSlots() noexcept = default;
    MessageSlots(std::byte* first, const SlotShape& shape) noexcept
        : first_(first), mask_(shape.slots - 1), stride_(shape.stride) {}

    /// Once for a channel: makes the words, all 0.
    void construct() noexcept {
        for (std::uint64_t slot = 0; slot <= mask_; ++slot) {
            new (place(slot)) Word;
        }
    }
    [[nodiscard]] std::uint64_t count() const noexcept { return mask_ + 1; }
    [[nodiscard]] std::size_t payload_bytes() const noexcept { return stride_ - sizeof(Word); }
    /// The word of the slot that message `number` (from 0) goes through.
    [[nodiscard]] Word& word(std::uint64_t number) const noexcept {
        return *std::launder(reinterpret_cast<Word*>(place(number)));
    }
    [[nodiscard]] std::byte* payload(std::uint64_t number) const noexcept {
        return place(number) + sizeof(Word);
    }

private:
    [[nodiscard]] std::byte* place(std::uint64_t number) const noexcept {
        return first_ + (number & mask_) * stride_;
    }

    std::byte* first_ = nullptr;
    std::uint64_t mask_ = 0; ///< Invariant: one less than a power of two.
    std::size_t stride_ = 0;
};

} // namespace corymb::channel

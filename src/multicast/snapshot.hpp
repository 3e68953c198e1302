// SPDX-License-Identifier: Apache-2.0
// The members that a call names: a bit for each position, in words that do not change while the
// call is under way. A reader of them has been ordered behind their writer already.
#pragma once

#include <algorithm>
#include <atomic>
#include <bit>
#include <cstdint>
#include <span>

namespace corymb::multicast {

using Position = std::uint32_t;

constexpr std::uint64_t bit_of(Position p) noexcept {
    return std::uint64_t{1} << p % 64;
}
inline std::uint32_t ones(std::uint64_t word) noexcept {
    return static_cast<std::uint32_t>(std::popcount(word));
}

/// Positions of one word.
struct Part {
    std::uint32_t word = 0;
    std::uint64_t bits = 0;
};

template <class Word>
class Snapshot {
public:
    explicit Snapshot(Word* words) noexcept : words_(words) {}

    [[nodiscard]] bool has(Position p) const noexcept { return (word(p) & bit_of(p)) != 0; }

    /// The first member at or behind `from`; `end` if there is none before it. O((end - from) / 64)
    [[nodiscard]] Position next(Position from, Position end) const noexcept {
        while (from < end) {
            const std::uint64_t rest = word(from) >> from % 64;
            if (rest != 0) {
                return std::min(from + static_cast<Position>(std::countr_zero(rest)), end);
            }
            from = (from / 64 + 1) * 64;
        }
        return end;
    }

    /// How many members there are from `from` to before `end`. O((end - from) / 64)
    [[nodiscard]] std::uint32_t count(Position from, Position end) const noexcept {
        std::uint32_t found = 0;
        while (from < end) {
            std::uint64_t members = word(from);
            members &= ~std::uint64_t{0} << from % 64;
            const Position next = (from / 64 + 1) * 64;
            if (next > end) {
                members &= ~(~std::uint64_t{0} << end % 64);
            }
            found += ones(members);
            from = next;
        }
        return found;
    }

    /// How many members there are among the positions of these parts.
    [[nodiscard]] std::uint32_t count(std::span<const Part> parts) const noexcept {
        std::uint32_t found = 0;
        for (const Part& part : parts) {
            found += ones(words_[part.word].load(std::memory_order_relaxed) & part.bits);
        }
        return found;
    }
    /// Whether there is a member among them.
    [[nodiscard]] bool meets(std::span<const Part> parts) const noexcept {
        return std::ranges::any_of(parts, [this](const Part& part) {
            return (words_[part.word].load(std::memory_order_relaxed) & part.bits) != 0;
        });
    }

    /// The position right behind `count` members, of whom `from` is the first.
    [[nodiscard]] Position behind(Position from, std::uint32_t count) const noexcept {
        for (;;) {
            std::uint64_t rest = word(from) >> from % 64;
            if (ones(rest) < count) {
                count -= ones(rest);
                from = (from / 64 + 1) * 64;
                continue;
            }
            for (; count > 1; --count) {
                rest &= rest - 1;
            }
            return from + static_cast<Position>(std::countr_zero(rest)) + 1;
        }
    }

private:
    [[nodiscard]] std::uint64_t word(Position p) const noexcept {
        return words_[p / 64].load(std::memory_order_relaxed);
    }

    Word* words_;
};

} // namespace corymb::multicast

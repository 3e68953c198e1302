// SPDX-License-Identifier: Apache-2.0 What all ranks of a communicator decide alike. Each rank
// names its values and how those of all ranks are combined; afterwards each has the combined ones.
// The exchange itself is not here: values become words, which a reduction combines by bitwise or,
// or by maximum (agreement/agree.hpp).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

namespace corymb::mpi {

/// All ranks name fields of the same kinds in the same order. What a field refers to must outlive
/// the agreement.
class Agreement {
public:
    enum class By : std::uint8_t { bit_or, maximum, sum };
    static constexpr std::array all_ways = {By::bit_or, By::maximum, By::sum};

    /// Whether any rank says so.
    void any(bool& said) { add({Kind::any, &said, nullptr, 0}); }
    /// The bits that are set on some rank.
    void bits(std::span<std::uint64_t> words) {
        for (std::uint64_t& word : words) {
            add({Kind::bits, nullptr, &word, 0});
        }
    }
    /// Whether all ranks say `value`.
    void same(std::uint64_t value, bool& is_same) { add({Kind::same, &is_same, nullptr, value}); }
    /// What one rank says; the others say 0.
    void from_one(std::uint64_t& value) { add({Kind::bits, nullptr, &value, 0}); }
    void largest(std::uint64_t& value) { add({Kind::largest, nullptr, &value, 0}); }
    void sum(std::uint64_t& value) { add({Kind::sum, nullptr, &value, 0}); }
    void smallest(std::uint64_t& value) { add({Kind::smallest, nullptr, &value, 0}); }
    /// The largest, where that is less than few_most; otherwise few_most. It needs no maximum, so
    /// it goes with the bits.
    void largest_of_few(std::uint64_t& value) { add({Kind::few, nullptr, &value, 0}); }
    static constexpr std::uint64_t few_most = 64;

    /// This rank's words for one of the reductions; empty: it is not needed.
    [[nodiscard]] std::span<const std::uint64_t> words(By by) const noexcept;
    /// The only reduction that has words.
    [[nodiscard]] By only_way() const noexcept;
    /// What the reduction makes of two ranks' words.
    [[nodiscard]] static std::uint64_t combined(By by, std::uint64_t one,
                                                std::uint64_t other) noexcept;
    /// Takes the combined words of all ranks.
    void take(By by, std::span<const std::uint64_t> combined) noexcept;

    static constexpr std::size_t words_most = 64;

private:
    enum class Kind : std::uint8_t { any, bits, same, largest, smallest, few, sum };
    struct Field {
        Kind kind;
        bool* flag;
        std::uint64_t* number;
        std::uint64_t value;
    };
    struct Words {
        std::array<std::uint64_t, words_most> list{};
        std::size_t count = 0;

        void push(std::uint64_t word);
    };

    [[nodiscard]] static By by(Kind kind) noexcept {
        switch (kind) {
        case Kind::largest:
        case Kind::smallest: return By::maximum;
        case Kind::sum: return By::sum;
        default: return By::bit_or;
        }
    }
    /// Throws std::length_error when there are too many words, on all ranks alike.
    void add(const Field& field);

    std::array<Field, words_most> fields_{};
    std::size_t count_ = 0;
    std::array<Words, all_ways.size()> words_{}; ///< By way.
};

} // namespace corymb::mpi

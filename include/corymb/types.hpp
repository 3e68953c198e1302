// SPDX-License-Identifier: Apache-2.0
// The element types that reductions know, and types that C++20 lacks: half precision and pairs.
#pragma once

#include <corymb/export.hpp>

#include <bit>
#include <complex>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <type_traits>

namespace corymb {

/// IEEE 754 binary16: 11 significant bits, to 65504. Converts to float exactly and from float
/// rounded to nearest even; every NaN becomes the one quiet NaN.
struct Float16 {
    std::uint16_t bits = 0;

    constexpr Float16() noexcept = default;
    constexpr explicit Float16(float value) noexcept : bits(rounded(value)) {}
    static constexpr Float16 from_bits(std::uint16_t bits) noexcept {
        Float16 value;
        value.bits = bits;
        return value;
    }

    // The shift of the exponent and the trick of adding a magic number, so that the addition rounds
    // what becomes subnormal, follow F. Giesen's public-domain conversions (2012).
    constexpr operator float() const noexcept { // NOLINT(google-explicit-constructor): exact
        constexpr std::uint32_t exponent_mask = 0x7C00U << 13U;
        std::uint32_t wide = (bits & 0x7FFFU) << 13U;
        const std::uint32_t exponent = wide & exponent_mask;
        wide += (127U - 15U) << 23U;
        if (exponent == exponent_mask) {
            wide += (128U - 16U) << 23U;
        } else if (exponent == 0) {
            wide += 1U << 23U;
            wide = std::bit_cast<std::uint32_t>(std::bit_cast<float>(wide) -
                                                std::bit_cast<float>(113U << 23U));
        }
        return std::bit_cast<float>(wide | ((bits & 0x8000U) << 16U));
    }

private:
    static constexpr std::uint16_t rounded(float value) noexcept {
        const auto all = std::bit_cast<std::uint32_t>(value);
        const std::uint32_t sign = (all >> 16U) & 0x8000U;
        std::uint32_t wide = all & 0x7FFFFFFFU;
        if (wide > 0x7F800000U) {
            return 0x7E00U;
        }
        if (wide >= (127U + 16U) << 23U) {
            return static_cast<std::uint16_t>(sign | 0x7C00U);
        }
        if (wide < 113U << 23U) {
            constexpr std::uint32_t magic = ((127U - 15U) + (23U - 10U) + 1U) << 23U;
            wide = std::bit_cast<std::uint32_t>(std::bit_cast<float>(wide) +
                                                std::bit_cast<float>(magic)) -
                   magic;
        } else {
            wide = (wide - ((127U - 15U) << 23U) + 0xFFFU + ((wide >> 13U) & 1U)) >> 13U;
        }
        return static_cast<std::uint16_t>(sign | wide);
    }
};

/// The upper half of a float: 8 significant bits, the range of float. Conversions as for Float16.
struct BFloat16 {
    std::uint16_t bits = 0;

    constexpr BFloat16() noexcept = default;
    constexpr explicit BFloat16(float value) noexcept : bits(rounded(value)) {}
    static constexpr BFloat16 from_bits(std::uint16_t bits) noexcept {
        BFloat16 value;
        value.bits = bits;
        return value;
    }

    constexpr operator float() const noexcept { // NOLINT(google-explicit-constructor): exact
        return std::bit_cast<float>(static_cast<std::uint32_t>(bits) << 16U);
    }

private:
    static constexpr std::uint16_t rounded(float value) noexcept {
        const auto wide = std::bit_cast<std::uint32_t>(value);
        if ((wide & 0x7FFFFFFFU) > 0x7F800000U) {
            return 0x7FC0U;
        }
        return static_cast<std::uint16_t>((wide + 0x7FFFU + ((wide >> 16U) & 1U)) >> 16U);
    }
};

/// A value and where it comes from, for `min_loc` and `max_loc`. With a 32-bit index it has the
/// layout of C's struct { value; int index; }.
template <class T, class Index = std::int64_t>
struct ValueIndex {
    T value;
    Index index;

    bool operator==(const ValueIndex&) const = default;
};

/// Element types by name, for callers that know them only at run time.
enum class ElementType : std::uint8_t {
    int8,
    uint8,
    int16,
    uint16,
    int32,
    uint32,
    int64,
    uint64,
    float16,
    bfloat16,
    float32,
    float64,
    complex64,  ///< Two float32.
    complex128, ///< Two float64.
    boolean,    ///< A byte; any value but 0 is true, results are 0 or 1.
    // ValueIndex: the value's type, then the width of the index.
    int16_index32,
    int32_index32,
    int64_index32,
    float32_index32,
    float64_index32,
    int32_index64,
    int64_index64,
    float32_index64,
    float64_index64,
};
inline constexpr std::size_t element_type_count = 24;

/// Bytes of one element; 0 for a value that is no ElementType.
CORYMB_EXPORT std::size_t element_bytes(ElementType type) noexcept;
/// The enumerator's name, e.g. "float32".
CORYMB_EXPORT const char* to_string(ElementType type) noexcept;
/// The opposite. Throws Errc::unknown_name and proposes the nearest name.
CORYMB_EXPORT ElementType element_type_from_string(std::string_view name);

namespace detail {

template <class T>
struct ElementTypeOf {
    static constexpr bool known = false;
};
template <ElementType Code>
struct KnownElementType {
    static constexpr bool known = true;
    static constexpr ElementType value = Code;
};
constexpr ElementType integer_type(std::size_t bytes, bool is_signed) noexcept {
    // The integers stand first, narrow before wide, signed before unsigned.
    const int width = bytes == 1 ? 0 : bytes == 2 ? 1 : bytes == 4 ? 2 : 3;
    return static_cast<ElementType>(2 * width + (is_signed ? 0 : 1));
}
template <class T>
    requires(std::is_integral_v<T> && !std::is_same_v<T, bool> && sizeof(T) <= 8)
struct ElementTypeOf<T> : KnownElementType<integer_type(sizeof(T), std::is_signed_v<T>)> {};
template <>
struct ElementTypeOf<Float16> : KnownElementType<ElementType::float16> {};
template <>
struct ElementTypeOf<BFloat16> : KnownElementType<ElementType::bfloat16> {};
template <>
struct ElementTypeOf<float> : KnownElementType<ElementType::float32> {};
template <>
struct ElementTypeOf<double> : KnownElementType<ElementType::float64> {};
template <>
struct ElementTypeOf<std::complex<float>> : KnownElementType<ElementType::complex64> {};
template <>
struct ElementTypeOf<std::complex<double>> : KnownElementType<ElementType::complex128> {};
template <>
struct ElementTypeOf<bool> : KnownElementType<ElementType::boolean> {};
template <>
struct ElementTypeOf<ValueIndex<std::int16_t, std::int32_t>>
    : KnownElementType<ElementType::int16_index32> {};
template <>
struct ElementTypeOf<ValueIndex<std::int32_t, std::int32_t>>
    : KnownElementType<ElementType::int32_index32> {};
template <>
struct ElementTypeOf<ValueIndex<std::int64_t, std::int32_t>>
    : KnownElementType<ElementType::int64_index32> {};
template <>
struct ElementTypeOf<ValueIndex<float, std::int32_t>>
    : KnownElementType<ElementType::float32_index32> {};
template <>
struct ElementTypeOf<ValueIndex<double, std::int32_t>>
    : KnownElementType<ElementType::float64_index32> {};
template <>
struct ElementTypeOf<ValueIndex<std::int32_t, std::int64_t>>
    : KnownElementType<ElementType::int32_index64> {};
template <>
struct ElementTypeOf<ValueIndex<std::int64_t, std::int64_t>>
    : KnownElementType<ElementType::int64_index64> {};
template <>
struct ElementTypeOf<ValueIndex<float, std::int64_t>>
    : KnownElementType<ElementType::float32_index64> {};
template <>
struct ElementTypeOf<ValueIndex<double, std::int64_t>>
    : KnownElementType<ElementType::float64_index64> {};

} // namespace detail
} // namespace corymb

// SPDX-License-Identifier: Apache-2.0
// Numbers by which ranks compare the contents of a call where an ElementType is not enough:
// Reduction::identity of calls that only move data. For bindings of other languages.
#pragma once

#include <corymb/operators.hpp>
#include <corymb/plan.hpp>

#include <cstdint>
#include <optional>

namespace corymb::detail {

/// Elements that have no ElementType, and a digest of their format.
enum class OtherElements : std::uint8_t {
    records,
    text,
    bytes, ///< Strings of bytes.
    long_doubles,
    complex_long_doubles,
    others,
};

// An identity is 1 + upper * 256 + lower. `lower` says what `upper` is:
//   lower                  upper
//   an Operator, or 255    an ElementType: see reduction_identity() and move_identity()
//   254                    an ElementType, its bytes in the other order
//   253                    the collective of objects that was called, and its operator
//   below 253              from `first_other` on: OtherElements and a part of the digest
inline constexpr std::uint32_t other_byte_order = 254;
inline constexpr std::uint32_t of_objects = 253;
inline constexpr std::uint32_t first_other = 64;
inline constexpr std::uint32_t other_span = 32;
static_assert(element_type_count <= first_other && collective_count < 16 && operator_count < 15);

/// Elements of a type whose bytes are in the order that this machine does not have.
[[nodiscard]] constexpr std::uint32_t swapped_identity(ElementType type) noexcept {
    return 1U + static_cast<std::uint32_t>(type) * 256U + other_byte_order;
}
/// About 13 bits of the digest count.
[[nodiscard]] constexpr std::uint32_t other_identity(OtherElements elements,
                                                     std::uint64_t digest) noexcept {
    const auto upper = first_other + static_cast<std::uint32_t>(elements) * other_span +
                       static_cast<std::uint32_t>(digest >> 8U) % other_span;
    return 1U + upper * 256U + static_cast<std::uint32_t>(digest % of_objects);
}
/// A part of a collective of objects. `called` is the one that the user has called; it may use
/// others. `with` is its operator, where it has one that has a name.
[[nodiscard]] constexpr std::uint32_t object_identity(Collective called,
                                                      std::optional<Operator> with = {}) noexcept {
    const std::uint32_t op = with ? static_cast<std::uint32_t>(*with) + 1U : 0U;
    return 1U + (static_cast<std::uint32_t>(called) + 16U * op) * 256U + of_objects;
}

/// The identity of messages of objects between two ranks.
inline constexpr std::uint32_t object_message = object_identity(Collective::barrier);

struct ObjectCall {
    Collective called;
    std::optional<Operator> with;
};
/// Empty for an identity of no call of objects.
[[nodiscard]] constexpr std::optional<ObjectCall>
object_call_of_identity(std::uint32_t identity) noexcept {
    const std::uint32_t upper = (identity - 1U) / 256U;
    if (identity == 0 || (identity - 1U) % 256U != of_objects || upper % 16U >= collective_count ||
        upper / 16U > operator_count) {
        return std::nullopt;
    }
    ObjectCall call{static_cast<Collective>(upper % 16U), std::nullopt};
    if (upper / 16U != 0) {
        call.with = static_cast<Operator>(upper / 16U - 1U);
    }
    return call;
}

} // namespace corymb::detail

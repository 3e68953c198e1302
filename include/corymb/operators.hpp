// SPDX-License-Identifier: Apache-2.0
// Reduction operators and their type-erased form. docs/reference/operators.md has the table of
// operators and types, and the rules for NaN, overflow and half precision.
#pragma once

#include <corymb/export.hpp>
#include <corymb/plain_data.hpp>
#include <corymb/types.hpp>

#include <array>
#include <cmath>
#include <complex>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <limits>
#include <string_view>
#include <type_traits>
#include <utility>

namespace corymb {

/// The smaller element. Beside it: std::plus<>, std::multiplies<>, std::bit_and<>, std::bit_or<>,
/// std::bit_xor<>, std::logical_and<>, std::logical_or<>, or any function object that is
/// associative; it may have state. One of your own gets the ranks in their order, unless
/// `commutative` says that it need not. Floating point: a NaN wins over every number, and -0 is
/// smaller than +0, so that the result does not depend on the order.
struct minimum {
    template <class T>
    constexpr T operator()(const T& a, const T& b) const {
        if constexpr (std::is_floating_point_v<T>) {
            if (a != a || b != b) {
                return std::numeric_limits<T>::quiet_NaN();
            }
            if (a == b) {
                return std::signbit(a) ? a : b;
            }
        }
        return b < a ? b : a;
    }
};
/// The larger element; NaN and zeros as for `minimum`.
struct maximum {
    template <class T>
    constexpr T operator()(const T& a, const T& b) const {
        if constexpr (std::is_floating_point_v<T>) {
            if (a != a || b != b) {
                return std::numeric_limits<T>::quiet_NaN();
            }
            if (a == b) {
                return std::signbit(a) ? b : a;
            }
        }
        return a < b ? b : a;
    }
};
/// Whether exactly one is not zero.
struct logical_xor {
    template <class T>
    constexpr bool operator()(const T& a, const T& b) const {
        return static_cast<bool>(a) != static_cast<bool>(b);
    }
};
/// The `ValueIndex` (or any pair with `value` and `index`) with the smallest value; of equal values
/// the one with the lowest index. A NaN wins, of several the one with the lowest index.
struct min_loc {
    template <class Pair>
    constexpr Pair operator()(const Pair& a, const Pair& b) const {
        const bool a_is_nan = a.value != a.value;
        const bool b_is_nan = b.value != b.value;
        if (a_is_nan != b_is_nan) {
            return a_is_nan ? a : b;
        }
        if (!a_is_nan && a.value != b.value) {
            return b.value < a.value ? b : a;
        }
        return b.index < a.index ? b : a;
    }
};
/// The one with the largest value; otherwise as `min_loc`.
struct max_loc {
    template <class Pair>
    constexpr Pair operator()(const Pair& a, const Pair& b) const {
        const bool a_is_nan = a.value != a.value;
        const bool b_is_nan = b.value != b.value;
        if (a_is_nan != b_is_nan) {
            return a_is_nan ? a : b;
        }
        if (!a_is_nan && a.value != b.value) {
            return a.value < b.value ? b : a;
        }
        return b.index < a.index ? b : a;
    }
};

/// Whether a (+) b == b (+) a for an operator of your own, whatever its operands are. As long as
/// that is not said, here or by `commutative`, the left operand comes from lower ranks than the
/// right one. The operators of this header, and those of the standard library on numbers, are known
/// to be commutative.
template <class Op>
inline constexpr bool is_commutative = false;

namespace detail {
/// An operator that is said to be commutative; without state if `op` is.
template <class Op, bool IsBase = std::is_empty_v<Op> && !std::is_final_v<Op>>
struct Commutative {
    template <class A, class B>
    constexpr auto operator()(const A& a, const B& b) const
        -> std::invoke_result_t<const Op&, const A&, const B&> {
        return op(a, b);
    }
    Op op;
};
template <class Op>
struct Commutative<Op, true> : Op {
    using Op::operator();
};
} // namespace detail

template <class Op>
inline constexpr bool is_commutative<detail::Commutative<Op>> = true;

/// Promises that `op` gives equal results for a (+) b and b (+) a, so that ranks may be combined in
/// any order, which is often faster: team.allreduce(in, out, corymb::commutative(gcd)).
template <class Op>
[[nodiscard]] constexpr detail::Commutative<Op> commutative(Op op) {
    return {std::move(op)};
}

/// Operators by name, for callers that know them only at run time.
enum class Operator : std::uint8_t {
    sum,
    prod,
    min,
    max,
    logical_and,
    logical_or,
    logical_xor,
    bitwise_and,
    bitwise_or,
    bitwise_xor,
    min_loc,
    max_loc,
};
inline constexpr std::size_t operator_count = 12;

/// The enumerator's name, e.g. "bitwise_and".
CORYMB_EXPORT const char* to_string(Operator op) noexcept;
/// The opposite. Throws Errc::unknown_name and proposes the nearest name.
CORYMB_EXPORT Operator operator_from_string(std::string_view name);

/// Whether the library combines elements of this type with this operator.
[[nodiscard]] constexpr bool is_defined(ElementType type, Operator op) noexcept {
    const bool loc = op == Operator::min_loc || op == Operator::max_loc;
    const bool arithmetic = op == Operator::sum || op == Operator::prod;
    const bool order = op == Operator::min || op == Operator::max;
    if (static_cast<std::size_t>(type) >= element_type_count ||
        static_cast<std::size_t>(op) >= operator_count) {
        return false;
    }
    if (type >= ElementType::int16_index32) {
        return loc;
    }
    if (type == ElementType::boolean) {
        return !loc && !arithmetic;
    }
    if (type >= ElementType::complex64) {
        return arithmetic;
    }
    if (type >= ElementType::float16) {
        return arithmetic || order;
    }
    return !loc;
}

/// A reduction operator for one element type. `combine` sets out[i] = left[i] (+) right[i]; `out`
/// may be `left` or `right`, otherwise they do not overlap; no pointer need be aligned.
struct Reduction {
    using Combine = void (*)(const void* left, const void* right, void* out, std::size_t count,
                             void* context);
    Combine combine = nullptr;
    std::size_t element_bytes = 0;
    bool commutative = true;
    /// Handed to `combine`: the state of an operator that has some; lives as long as the operation.
    void* context = nullptr;
    /// Equal for the same standard type and operator, so that ranks can notice that they differ;
    /// 0 for an operator or type of the user's own.
    std::uint32_t identity = 0;
    /// `combine` gets all elements that a rank contributes at once, never some of them: for an
    /// operator that looks at more than one. Only of one that is not commutative.
    bool whole = false;

    bool operator==(const Reduction&) const = default;
};

/// The reduction of a type and operator that are known at run time only, with the vectorised
/// kernels. Throws Errc::invalid_argument naming both where none is defined. O(1), thread-safe.
[[nodiscard]] CORYMB_EXPORT Reduction reduction_of(ElementType type, Operator op);

/// The instruction set that the kernels were chosen for on this machine, e.g. "AVX2".
[[nodiscard]] CORYMB_EXPORT const char* kernel_instructions() noexcept;

namespace detail {

/// Runs the kernel of a pair for which is_defined() holds.
CORYMB_EXPORT void combine_standard(ElementType type, Operator op, const void* left,
                                    const void* right, void* out, std::size_t count) noexcept;

constexpr std::uint32_t reduction_identity(ElementType type, Operator op) noexcept {
    return 1U + static_cast<std::uint32_t>(type) * 256U + static_cast<std::uint32_t>(op);
}

/// The value of Reduction::identity when elements of a type are only moved.
constexpr std::uint32_t move_identity(ElementType type) noexcept {
    return 1U + static_cast<std::uint32_t>(type) * 256U + 255U;
}
/// The type and operator that an identity above 0 was made of; an operator beyond the last one:
/// elements are only moved.
constexpr ElementType type_of_identity(std::uint32_t identity) noexcept {
    return static_cast<ElementType>((identity - 1U) / 256U);
}
constexpr Operator operator_of_identity(std::uint32_t identity) noexcept {
    return static_cast<Operator>((identity - 1U) % 256U);
}
template <class T>
constexpr std::uint32_t move_identity() noexcept {
    if constexpr (ElementTypeOf<T>::known) {
        return move_identity(ElementTypeOf<T>::value);
    } else {
        return 0;
    }
}

/// The Operator that a function object is when it combines elements of type T.
template <class Op, class T>
struct OperatorOf {
    static constexpr bool known = false;
};
template <Operator Code>
struct KnownOperator {
    static constexpr bool known = true;
    static constexpr Operator value = Code;
};
template <class X, class T>
concept takes = std::is_void_v<X> || std::is_same_v<X, T>;
template <class X, class T>
    requires takes<X, T>
struct OperatorOf<std::plus<X>, T> : KnownOperator<Operator::sum> {};
template <class X, class T>
    requires takes<X, T>
struct OperatorOf<std::multiplies<X>, T> : KnownOperator<Operator::prod> {};
template <class T>
struct OperatorOf<minimum, T> : KnownOperator<Operator::min> {};
template <class T>
struct OperatorOf<maximum, T> : KnownOperator<Operator::max> {};
template <class X, class T>
    requires takes<X, T>
struct OperatorOf<std::logical_and<X>, T> : KnownOperator<Operator::logical_and> {};
template <class X, class T>
    requires takes<X, T>
struct OperatorOf<std::logical_or<X>, T> : KnownOperator<Operator::logical_or> {};
template <class T>
struct OperatorOf<logical_xor, T> : KnownOperator<Operator::logical_xor> {};
template <class X, class T>
    requires takes<X, T>
struct OperatorOf<std::bit_and<X>, T> : KnownOperator<Operator::bitwise_and> {};
template <class X, class T>
    requires takes<X, T>
struct OperatorOf<std::bit_or<X>, T> : KnownOperator<Operator::bitwise_or> {};
template <class X, class T>
    requires takes<X, T>
struct OperatorOf<std::bit_xor<X>, T> : KnownOperator<Operator::bitwise_xor> {};
template <class T>
struct OperatorOf<min_loc, T> : KnownOperator<Operator::min_loc> {};
template <class T>
struct OperatorOf<max_loc, T> : KnownOperator<Operator::max_loc> {};

template <class Op, class T>
struct OperatorOf<Commutative<Op>, T> : OperatorOf<Op, T> {};

/// Types on which the operators that OperatorOf knows are commutative. A struct may have operators
/// that are not: a product of matrices, a sum of strings.
template <class T>
inline constexpr bool is_number = std::is_arithmetic_v<T> || ElementTypeOf<T>::known;
template <class T>
inline constexpr bool is_number<std::complex<T>> = std::is_floating_point_v<T>;
template <class T, class Index>
inline constexpr bool is_number<ValueIndex<T, Index>> =
    std::is_arithmetic_v<T> && std::is_integral_v<Index>;

template <class T, class Op>
constexpr bool takes_any_order() noexcept {
    return is_commutative<Op> || (OperatorOf<Op, T>::known && is_number<T>);
}

template <class T, class Op>
consteval bool combines() {
    static_assert(std::is_invocable_v<const Op&, T, T>,
                  "the operator cannot combine two of these elements: it is called as a const "
                  "function object with both and returns one. For the elements of containers pass "
                  "two buffers, allreduce(input, output)");
    return moves_as_bytes<T>();
}

template <class T, class Op>
constexpr bool has_kernel() noexcept {
    if constexpr (ElementTypeOf<T>::known && OperatorOf<Op, T>::known) {
        return is_defined(ElementTypeOf<T>::value, OperatorOf<Op, T>::value);
    } else {
        return false;
    }
}

/// Element `index` of memory that need not be aligned for T.
template <class T>
T load_element(const void* from, std::size_t index) noexcept {
    std::array<std::byte, sizeof(T)> bytes;
    std::memcpy(bytes.data(), static_cast<const std::byte*>(from) + index * sizeof(T), sizeof(T));
    return std::bit_cast<T>(bytes);
}

template <class T>
void store_element(void* to, std::size_t index, const T& value) noexcept {
    std::memcpy(static_cast<std::byte*>(to) + index * sizeof(T), &value, sizeof(T));
}

/// Combines one element after the other, for types and operators that have no kernel.
template <class T, class Op>
void combine_each(const void* left, const void* right, void* out, std::size_t count,
                  void* /*context*/) {
    for (std::size_t i = 0; i < count; ++i) {
        const auto result = Op{}(load_element<T>(left, i), load_element<T>(right, i));
        store_element(out, i, static_cast<T>(result));
    }
}

/// Operators without state are made where they are needed; others travel by address.
template <class Op>
inline constexpr bool is_stateless = std::is_empty_v<Op> && std::is_default_constructible_v<Op>;

} // namespace detail

/// The `Reduction` of an operation that only moves elements, which has no operator. Ranks compare
/// the standard types.
template <class T>
[[nodiscard]] constexpr Reduction move_of() noexcept {
    return {nullptr, sizeof(T), true, nullptr, detail::move_identity<T>()};
}
/// As the other `move_of`, for a type that is known at run time only.
[[nodiscard]] inline Reduction move_of(ElementType type) noexcept {
    return {nullptr, element_bytes(type), true, nullptr, detail::move_identity(type)};
}

/// The `Reduction` of a stateless operator on a trivially copyable type. Standard operators on
/// standard types use the same kernels as `reduction_of(ElementType, Operator)`.
template <class T, class Op>
[[nodiscard]] constexpr Reduction reduction_of() noexcept {
    static_assert(detail::combines<T, Op>());
    static_assert(std::is_empty_v<Op> && std::is_default_constructible_v<Op>,
                  "an operator is a function object without state");
    if constexpr (detail::has_kernel<T, Op>()) {
        constexpr ElementType type = detail::ElementTypeOf<T>::value;
        constexpr Operator code = detail::OperatorOf<Op, T>::value;
        return {[](const void* left, const void* right, void* out, std::size_t count,
                   void* /*context*/) {
                    detail::combine_standard(type, code, left, right, out, count);
                },
                sizeof(T), true, nullptr, detail::reduction_identity(type, code)};
    } else {
        return {detail::combine_each<T, Op>, sizeof(T), detail::takes_any_order<T, Op>()};
    }
}

/// The `Reduction` of any operator on a trivially copyable type. One with state is called through
/// `op`, which must outlive the reduction, by one thread at a time.
template <class T, class Op>
[[nodiscard]] constexpr Reduction reduction_of(const Op& op) noexcept {
    static_assert(detail::combines<T, Op>());
    if constexpr (detail::is_stateless<Op>) {
        return reduction_of<T, Op>();
    } else {
        return {
            [](const void* left, const void* right, void* out, std::size_t count, void* context) {
                const Op& with = *static_cast<const Op*>(context);
                for (std::size_t i = 0; i < count; ++i) {
                    const auto result =
                        with(detail::load_element<T>(left, i), detail::load_element<T>(right, i));
                    detail::store_element(out, i, static_cast<T>(result));
                }
            },
            sizeof(T), detail::takes_any_order<T, Op>(), const_cast<Op*>(&op)};
    }
}

} // namespace corymb

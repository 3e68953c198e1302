// SPDX-License-Identifier: Apache-2.0
// Buffers of operations: any contiguous range.
#pragma once

#include <corymb/plain_data.hpp>

#include <span>
#include <type_traits>
#include <utility>

namespace corymb {

/// Elements that lie one behind the other: std::vector, std::array, std::string, an array, a
/// std::span of fixed or dynamic extent, const or not.
template <class R>
concept Elements = requires(std::remove_reference_t<R>& range) { std::span(range); };

namespace detail {

/// An array is none: that is a buffer.
template <class T>
concept IsPointer = std::is_pointer_v<std::remove_cvref_t<T>>;

/// Stands for an element type that nobody has named.
struct Deduced {};

template <class R>
using SpanOf = decltype(std::span(std::declval<std::remove_reference_t<R>&>()));
/// The elements' type, without const.
template <class R>
using ValueOf = typename SpanOf<R>::value_type;

/// The elements are still there after the call.
template <class R>
inline constexpr bool stays_there =
    std::is_lvalue_reference_v<R> || std::ranges::enable_borrowed_range<std::remove_cvref_t<R>>;

template <class T, class R>
consteval bool has_elements_of() {
    static_assert(std::is_same_v<T, Deduced> || std::is_same_v<T, ValueOf<R>>,
                  "the buffer has elements of another type than the one that is named");
    return moves_as_bytes<ValueOf<R>>();
}

/// The elements of a buffer that is read. `R` is the type of the parameter, which may be a
/// reference.
template <class T, class R>
std::span<const ValueOf<R>> read_from(std::remove_reference_t<R>& range) noexcept {
    static_assert(has_elements_of<T, R>());
    return std::span(range);
}

/// The elements of a buffer that is written.
template <class T, class R>
std::span<ValueOf<R>> write_to(std::remove_reference_t<R>& range) noexcept {
    constexpr bool is_const = std::is_const_v<typename SpanOf<R>::element_type>;
    static_assert(has_elements_of<T, R>());
    static_assert(!is_const, "the operation writes into this buffer, whose elements are const "
                             "(those of a std::string_view always are): pass one that is not");
    static_assert(stays_there<R>, "the operation writes into this buffer, which is gone after the "
                                  "call: pass a variable or a std::span of one");
    if constexpr (is_const) {
        return {};
    } else {
        return std::span(range);
    }
}

/// As read_from, for requests, which go on after the call.
template <class T, class R>
std::span<const ValueOf<R>> read_later(std::remove_reference_t<R>& range) noexcept {
    static_assert(stays_there<R>, "the request reads this buffer until it is complete, but the "
                                  "buffer is gone after the call: pass a variable or a std::span "
                                  "of one");
    return read_from<T, R>(range);
}

/// Input and output of one operation.
template <class T>
struct Buffers {
    std::span<const T> in;
    std::span<T> out;
};

template <class In, class Out>
consteval bool have_one_type() {
    static_assert(std::is_same_v<ValueOf<In>, ValueOf<Out>>,
                  "input and output have elements of different types");
    return true;
}

template <class T, class In, class Out>
Buffers<ValueOf<Out>> buffers(std::remove_reference_t<In>& input,
                              std::remove_reference_t<Out>& output) noexcept {
    static_assert(have_one_type<In, Out>());
    return {read_from<T, In>(input), write_to<T, Out>(output)};
}
template <class T, class In, class Out>
Buffers<ValueOf<Out>> kept_buffers(std::remove_reference_t<In>& input,
                                   std::remove_reference_t<Out>& output) noexcept {
    static_assert(have_one_type<In, Out>());
    return {read_later<T, In>(input), write_to<T, Out>(output)};
}

// The type of `{}`, for a rank that does not use a buffer.
template <class In>
using NoOutput = std::span<ValueOf<In>>;
template <class Out>
using NoInput = std::span<const ValueOf<Out>>;

} // namespace detail

} // namespace corymb

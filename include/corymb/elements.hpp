// SPDX-License-Identifier: Apache-2.0
// Buffers of operations: any contiguous range, or the layout of elements that do not lie in one
// piece.
#pragma once

#include <corymb/packed.hpp>
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

template <class T>
std::type_identity<T> element_of(const Packed<T>& layout); // Only declared.

template <class R>
concept IsPacked = requires(const std::remove_cvref_t<R>& layout) { detail::element_of(layout); };

/// An array is none: that is a buffer.
template <class T>
concept IsPointer = std::is_pointer_v<std::remove_cvref_t<T>>;

} // namespace detail

/// A buffer of Team's functions: elements in one piece, or a `Packed` layout. This is true of
/// pointers, too: the functions refuse them with a text that says what to write.
template <class R>
concept AnyElements = Elements<R> || detail::IsPacked<R> || detail::IsPointer<R>;

namespace detail {

/// Stands for an element type that nobody has named.
struct Deduced {};

template <class R>
using SpanOf = decltype(std::span(std::declval<std::remove_reference_t<R>&>()));

template <class R>
consteval auto value_of() {
    if constexpr (IsPacked<R>) {
        return decltype(element_of(std::declval<const std::remove_cvref_t<R>&>()))();
    } else if constexpr (IsPointer<R>) {
        return std::type_identity<std::remove_cvref_t<R>>();
    } else {
        return std::type_identity<typename SpanOf<R>::value_type>();
    }
}
/// The elements' type, without const.
template <class R>
using ValueOf = typename decltype(value_of<R>())::type;

/// The elements are still there after the call. Layouts are copied.
template <class R>
inline constexpr bool stays_there =
    IsPacked<R> || std::is_lvalue_reference_v<R> ||
    std::ranges::enable_borrowed_range<std::remove_cvref_t<R>> || IsPointer<R>;

template <class R>
consteval bool has_const_elements() {
    if constexpr (Elements<R>) {
        return std::is_const_v<typename SpanOf<R>::element_type>;
    } else {
        return false;
    }
}

template <class T, class R>
consteval bool has_elements_of() {
    static_assert(std::is_same_v<T, Deduced> || std::is_same_v<T, ValueOf<R>>,
                  "the buffer has elements of another type than the one that is named");
    return moves_as_bytes<ValueOf<R>>();
}

// The functions below take a buffer as the library does: as a span of its elements, or as a
// reference to its layout. `R` is the type of the parameter, which may be a reference.

/// A buffer that is read.
template <class T, class R>
decltype(auto) read_from(std::remove_reference_t<R>& buffer) noexcept {
    static_assert(has_elements_of<T, R>());
    using Value = ValueOf<R>;
    if constexpr (IsPacked<R>) {
        return static_cast<const Packed<Value>&>(buffer);
    } else if constexpr (IsPointer<R>) {
        return std::span<const Value>();
    } else {
        return std::span<const Value>(std::span(buffer));
    }
}

/// A buffer that is written.
template <class T, class R>
decltype(auto) write_to(std::remove_reference_t<R>& buffer) noexcept {
    static_assert(has_elements_of<T, R>());
    static_assert(!has_const_elements<R>(),
                  "the operation writes into this buffer, whose elements are const "
                  "(those of a std::string_view always are): pass one that is not");
    static_assert(stays_there<R>, "the operation writes into this buffer, which is gone after the "
                                  "call: pass a variable or a std::span of one");
    using Value = ValueOf<R>;
    if constexpr (IsPacked<R>) {
        return static_cast<const Packed<Value>&>(buffer);
    } else if constexpr (IsPointer<R> || has_const_elements<R>()) {
        return std::span<Value>();
    } else {
        return std::span<Value>(std::span(buffer));
    }
}

/// As read_from, for requests, which go on after the call.
template <class T, class R>
decltype(auto) read_later(std::remove_reference_t<R>& buffer) noexcept {
    static_assert(stays_there<R>, "the request reads this buffer until it is complete, but the "
                                  "buffer is gone after the call: pass a variable or a std::span "
                                  "of one");
    return read_from<T, R>(buffer);
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

// The type of `{}`, for a rank that does not use a buffer.
template <class In>
using NoOutput = std::span<ValueOf<In>>;
template <class Out>
using NoInput = std::span<const ValueOf<Out>>;

} // namespace detail

} // namespace corymb

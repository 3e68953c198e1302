// SPDX-License-Identifier: Apache-2.0
// Decides which types move between ranks. A value moves as its bytes, so its bytes must be all of
// it.
#pragma once

#include <array>
#include <atomic>
#include <complex>
#include <coroutine>
#include <cstddef>
#include <functional>
#include <initializer_list>
#include <iterator>
#include <optional>
#include <source_location>
#include <span>
#include <string_view>
#include <system_error>
#include <tuple>
#include <type_traits>
#include <typeindex>
#include <utility>
#include <variant>
#include <version>
#ifdef __cpp_lib_expected
#include <expected>
#endif

namespace corymb {

namespace detail {

/// Pointers, iterators and views: their bytes say where the data is.
template <class T>
inline constexpr bool points_elsewhere =
    std::is_pointer_v<T> || std::is_member_pointer_v<T> || std::is_null_pointer_v<T> ||
    std::input_or_output_iterator<T> || std::ranges::enable_view<T> ||
    requires { typename T::data_handle_type; }; // std::mdspan
template <class T>
inline constexpr bool points_elsewhere<std::reference_wrapper<T>> = true;
template <class T>
inline constexpr bool points_elsewhere<std::initializer_list<T>> = true;
template <class T>
inline constexpr bool points_elsewhere<std::coroutine_handle<T>> = true;
template <class T>
inline constexpr bool points_elsewhere<std::atomic_ref<T>> = true;
template <>
inline constexpr bool points_elsewhere<std::error_code> = true;
template <>
inline constexpr bool points_elsewhere<std::error_condition> = true;
template <>
inline constexpr bool points_elsewhere<std::source_location> = true;
template <>
inline constexpr bool points_elsewhere<std::type_index> = true;

/// Whether the content of a standard library type is plain data.
template <class T>
inline constexpr bool holds_plain_data = true;

} // namespace detail

/// Whether the bytes of a T are all of its value, so that a copy of them on another rank is the
/// same value. False for pointers, iterators, views (std::span, std::string_view and so on),
/// std::reference_wrapper, and for arrays, std::array, pair, tuple, optional, variant and expected
/// that hold such a type. A struct of your own moves byte by byte: the library cannot look into
/// it. Where it holds a pointer, refuse it:
///
///     template <> inline constexpr bool corymb::is_plain_data<Mine> = false;
template <class T>
inline constexpr bool is_plain_data =
    std::is_trivially_copyable_v<T> && !detail::points_elsewhere<std::remove_cv_t<T>> &&
    detail::holds_plain_data<std::remove_cv_t<T>>;

namespace detail {

template <class T, std::size_t N>
inline constexpr bool holds_plain_data<T[N]> = is_plain_data<std::remove_cv_t<T>>;
template <class T, std::size_t N>
inline constexpr bool holds_plain_data<std::array<T, N>> = is_plain_data<std::remove_cv_t<T>>;
template <class T>
inline constexpr bool holds_plain_data<std::optional<T>> = is_plain_data<std::remove_cv_t<T>>;
template <class... T>
inline constexpr bool holds_plain_data<std::variant<T...>> =
    (is_plain_data<std::remove_cv_t<T>> && ...);
template <class... T>
inline constexpr bool holds_plain_data<std::tuple<T...>> =
    (is_plain_data<std::remove_cv_t<T>> && ...);
template <class A, class B>
inline constexpr bool holds_plain_data<std::pair<A, B>> =
    is_plain_data<std::remove_cv_t<A>> && is_plain_data<std::remove_cv_t<B>>;
template <class T>
inline constexpr bool holds_plain_data<std::complex<T>> = is_plain_data<T>;
#ifdef __cpp_lib_expected
template <class T, class E>
inline constexpr bool holds_plain_data<std::expected<T, E>> =
    (std::is_void_v<T> || is_plain_data<std::remove_cv_t<T>>) && is_plain_data<std::remove_cv_t<E>>;
#endif

/// Refuses at compile time a type that does not move as its bytes.
template <class T>
consteval bool moves_as_bytes() {
    static_assert(std::is_trivially_copyable_v<T>,
                  "this type cannot move as its bytes, because copying it takes more than that. "
                  "Of a std::vector or std::string move the elements: pass the container as a "
                  "buffer, or a std::span. Instead of std::pair or std::tuple move a struct");
    static_assert(!std::is_trivially_copyable_v<T> || is_plain_data<T>,
                  "this type points to its data (a pointer, iterator, view or reference, or "
                  "something that holds one), so the pointer would move and not the data. Pass the "
                  "elements themselves as a buffer: a std::span, an array or a std::vector. "
                  "docs/reference/collectives.md, \"What moves\"");
    return true;
}

} // namespace detail

} // namespace corymb

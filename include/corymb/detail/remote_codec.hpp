// SPDX-License-Identifier: Apache-2.0
// Arguments and results of remote calls as bytes. Trivially copyable types are their bytes. Strings
// and vectors have their length in front. Pairs, tuples and optionals are their parts. Other types
// need a RemoteCodec of their own.
#pragma once

#include <corymb/export.hpp>
#include <corymb/plain_data.hpp>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

namespace corymb {

/// Bytes that are read one part after the other.
class RemoteReader {
public:
    explicit RemoteReader(std::span<const std::byte> from) noexcept : rest_(from) {}
    /// The next bytes. Throws Errc::mismatch if there are fewer.
    [[nodiscard]] std::span<const std::byte> take(std::size_t bytes) {
        if (bytes > rest_.size()) [[unlikely]] {
            refuse_short(bytes);
        }
        const auto taken = rest_.first(bytes);
        rest_ = rest_.subspan(bytes);
        return taken;
    }
    [[nodiscard]] std::size_t left() const noexcept { return rest_.size(); }

private:
    [[noreturn]] CORYMB_EXPORT void refuse_short(std::size_t wanted) const;
    std::span<const std::byte> rest_;
};

/// Bytes that are written one part after the other, in room that was counted before.
class RemoteWriter {
public:
    explicit RemoteWriter(std::span<std::byte> to) noexcept : rest_(to) {}
    /// Throws Errc::invalid_argument if that is more than was counted.
    void put(const void* from, std::size_t bytes) {
        if (bytes > rest_.size()) [[unlikely]] {
            refuse_wrong_size();
        }
        if (bytes != 0) {
            std::memcpy(rest_.data(), from, bytes);
        }
        rest_ = rest_.subspan(bytes);
    }
    /// Throws Errc::invalid_argument if more was counted.
    void require_full() const {
        if (!rest_.empty()) [[unlikely]] {
            refuse_wrong_size();
        }
    }

private:
    [[noreturn]] CORYMB_EXPORT static void refuse_wrong_size();
    std::span<std::byte> rest_;
};

/// How values of type T travel. A specialisation has
///
///     static std::size_t size(const T&);             The bytes that `write` puts, exactly.
///     static void write(RemoteWriter&, const T&);
///     static T read(RemoteReader&);                  Throws for bytes that are no T.
///
/// What they throw is the outcome of the call.
template <class T>
struct RemoteCodec {
    static_assert(
        std::is_trivially_copyable_v<T>,
        "values of this type do not travel as their bytes: specialise RemoteCodec for it");
    static_assert(detail::moves_as_bytes<T>());
    static constexpr std::size_t size(const T& /*value*/) noexcept { return sizeof(T); }
    static void write(RemoteWriter& to, const T& value) { to.put(&value, sizeof value); }
    static T read(RemoteReader& from) {
        alignas(T) std::byte room[sizeof(T)];
        std::memcpy(room, from.take(sizeof(T)).data(), sizeof(T));
        return *reinterpret_cast<const T*>(room);
    }
};

namespace detail {
/// The bytes of a row of elements.
template <class Element>
std::span<const std::byte> read_row(RemoteReader& from) {
    const auto count = RemoteCodec<std::uint64_t>::read(from);
    if (count > from.left() / sizeof(Element)) {
        static_cast<void>(from.take(from.left() + 1)); // Throws.
    }
    return from.take(static_cast<std::size_t>(count) * sizeof(Element));
}

/// A row of elements that move as bytes, with its length in front.
template <class Row, class Element>
struct RowCodec {
    static std::size_t size(const Row& row) noexcept {
        return sizeof(std::uint64_t) + row.size() * sizeof(Element);
    }
    static void write(RemoteWriter& to, const Row& row) {
        const std::uint64_t count = row.size();
        to.put(&count, sizeof count);
        to.put(row.data(), row.size() * sizeof(Element));
    }
    static Row read(RemoteReader& from) {
        const auto bytes = read_row<Element>(from);
        Row row(bytes.size() / sizeof(Element), Element{});
        if (!bytes.empty()) {
            std::memcpy(row.data(), bytes.data(), bytes.size());
        }
        return row;
    }
};

/// The elements of a span as they have come: in the message if they are aligned there, or in a copy
/// of their own.
template <class T>
class KeptRow {
public:
    explicit KeptRow(std::span<const T> row) noexcept : in_place_(row) {}
    explicit KeptRow(std::vector<T> row) noexcept : own_(std::move(row)) {}
    [[nodiscard]] std::span<const T> pass() const noexcept {
        return own_.empty() ? in_place_ : std::span<const T>(own_);
    }
    /// The message, or the caller's memory, is about to go.
    void keep() {
        if (own_.empty()) {
            own_.assign(in_place_.begin(), in_place_.end());
            in_place_ = {};
        }
    }

private:
    std::span<const T> in_place_;
    std::vector<T> own_;
};

template <class... T>
std::size_t size_of_all(const T&... values) {
    return (std::size_t{0} + ... + RemoteCodec<T>::size(values));
}
template <class... T>
void write_all(RemoteWriter& to, const T&... values) {
    (RemoteCodec<T>::write(to, values), ...);
}
/// In order, since braces are.
template <class... T>
std::tuple<T...> read_all(RemoteReader& from) {
    return std::tuple<T...>{RemoteCodec<T>::read(from)...};
}
} // namespace detail

template <>
struct RemoteCodec<std::string> : detail::RowCodec<std::string, char> {};
template <class T>
    requires std::is_trivially_copyable_v<T>
struct RemoteCodec<std::vector<T>> : detail::RowCodec<std::vector<T>, T> {
    static_assert(!std::is_same_v<T, bool>, "a vector of bool has no bytes: send bytes");
};
/// Travels from where it lies. A function views the elements in the message, a task has a copy.
template <class T>
struct RemoteCodec<std::span<const T>> : detail::RowCodec<std::span<const T>, T> {
    static_assert(detail::moves_as_bytes<T>());
    static detail::KeptRow<T> read(RemoteReader& from) {
        const auto bytes = detail::read_row<T>(from);
        if (bytes.empty()) {
            return detail::KeptRow<T>(std::span<const T>());
        }
        if (reinterpret_cast<std::uintptr_t>(bytes.data()) % alignof(T) == 0) {
            return detail::KeptRow<T>(
                std::span(reinterpret_cast<const T*>(bytes.data()), bytes.size() / sizeof(T)));
        }
        std::vector<T> copy(bytes.size() / sizeof(T));
        std::memcpy(copy.data(), bytes.data(), bytes.size());
        return detail::KeptRow<T>(std::move(copy));
    }
};
template <class T>
    requires(!std::is_trivially_copyable_v<T>)
struct RemoteCodec<std::vector<T>> {
    static std::size_t size(const std::vector<T>& row) {
        std::size_t bytes = sizeof(std::uint64_t);
        for (const T& element : row) {
            bytes += RemoteCodec<T>::size(element);
        }
        return bytes;
    }
    static void write(RemoteWriter& to, const std::vector<T>& row) {
        RemoteCodec<std::uint64_t>::write(to, row.size());
        for (const T& element : row) {
            RemoteCodec<T>::write(to, element);
        }
    }
    static std::vector<T> read(RemoteReader& from) {
        std::vector<T> row;
        for (auto left = RemoteCodec<std::uint64_t>::read(from); left != 0; --left) {
            row.push_back(RemoteCodec<T>::read(from));
        }
        return row;
    }
};
template <class T>
    requires(!std::is_trivially_copyable_v<T>)
struct RemoteCodec<std::optional<T>> {
    static std::size_t size(const std::optional<T>& value) {
        return sizeof(bool) + (value.has_value() ? RemoteCodec<T>::size(*value) : 0);
    }
    static void write(RemoteWriter& to, const std::optional<T>& value) {
        RemoteCodec<bool>::write(to, value.has_value());
        if (value.has_value()) {
            RemoteCodec<T>::write(to, *value);
        }
    }
    static std::optional<T> read(RemoteReader& from) {
        std::optional<T> value;
        if (RemoteCodec<bool>::read(from)) {
            value.emplace(RemoteCodec<T>::read(from));
        }
        return value;
    }
};
/// Travels as the object, if there is one.
template <class T>
struct RemoteCodec<std::unique_ptr<T>> {
    static_assert(!std::is_polymorphic_v<T>,
                  "the object may be of a derived class, which the other "
                  "rank could not know: send a type of your own");
    static std::size_t size(const std::unique_ptr<T>& to) {
        return sizeof(bool) + (to != nullptr ? RemoteCodec<T>::size(*to) : 0);
    }
    static void write(RemoteWriter& writer, const std::unique_ptr<T>& to) {
        RemoteCodec<bool>::write(writer, to != nullptr);
        if (to != nullptr) {
            RemoteCodec<T>::write(writer, *to);
        }
    }
    static std::unique_ptr<T> read(RemoteReader& from) {
        return RemoteCodec<bool>::read(from) ? std::make_unique<T>(RemoteCodec<T>::read(from))
                                             : nullptr;
    }
};
template <class A, class B>
struct RemoteCodec<std::pair<A, B>> {
    static std::size_t size(const std::pair<A, B>& value) {
        return detail::size_of_all(value.first, value.second);
    }
    static void write(RemoteWriter& to, const std::pair<A, B>& value) {
        detail::write_all(to, value.first, value.second);
    }
    static std::pair<A, B> read(RemoteReader& from) {
        return std::pair<A, B>{RemoteCodec<A>::read(from), RemoteCodec<B>::read(from)};
    }
};
template <class... T>
struct RemoteCodec<std::tuple<T...>> {
    static std::size_t size(const std::tuple<T...>& value) {
        return std::apply([](const T&... part) { return detail::size_of_all(part...); }, value);
    }
    static void write(RemoteWriter& to, const std::tuple<T...>& value) {
        std::apply([&to](const T&... part) { detail::write_all(to, part...); }, value);
    }
    static std::tuple<T...> read(RemoteReader& from) { return detail::read_all<T...>(from); }
};

} // namespace corymb

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <corymb/detail/remote_codec.hpp>
#include <corymb/waits.hpp>

#include <tuple>
#include <type_traits>

namespace corymb::detail {

template <class T>
    requires std::is_same_v<std::remove_const_t<T>, TaskWait>
auto parts_of(T& of) {
    return std::tie(of.wait, of.runs, of.kind, of.waits_for, of.serves, of.tasks, of.calls,
                    of.belongs_to, of.race, of.has_own_stop);
}
template <class T>
    requires std::is_same_v<std::remove_const_t<T>, RankWaits>
auto parts_of(T& of) {
    return std::tie(of.rank, of.tasks, of.calls, of.ready, of.parked, of.queued);
}

/// Travels as its parts.
template <class T>
struct PartsCodec {
    static std::size_t size(const T& value) {
        return std::apply([](const auto&... part) { return size_of_all(part...); },
                          parts_of(value));
    }
    static void write(RemoteWriter& to, const T& value) {
        std::apply([&to](const auto&... part) { write_all(to, part...); }, parts_of(value));
    }
    static T read(RemoteReader& from) {
        T value;
        std::apply(
            [&from](auto&... part) {
                ((part = RemoteCodec<std::remove_reference_t<decltype(part)>>::read(from)), ...);
            },
            parts_of(value));
        return value;
    }
};

} // namespace corymb::detail

template <>
struct corymb::RemoteCodec<corymb::TaskWait> : corymb::detail::PartsCodec<corymb::TaskWait> {};
template <>
struct corymb::RemoteCodec<corymb::RankWaits> : corymb::detail::PartsCodec<corymb::RankWaits> {};

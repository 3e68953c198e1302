// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <corymb/detail/remote_codec.hpp>
#include <corymb/rank.hpp>

#include <exception>
#include <string>
#include <vector>

namespace corymb::detail {

/// An exception as it travels.
struct Failure {
    enum class Kind : std::uint32_t { error, registered, foreign };
    Kind kind = Kind::foreign;
    std::uint32_t code = 0; ///< An Error's.
    std::vector<int> ranks; ///< An Error's.
    std::string type_name;  ///< As the compiler names it.
    std::string text;
};

[[nodiscard]] Failure failure_of(const std::exception_ptr& thrown);
/// What the caller of rank `from` gets. Throws nothing.
[[nodiscard]] std::exception_ptr exception_of(const Failure& failure, Rank from) noexcept;
/// As it would arrive, if it was thrown on rank `from`.
[[nodiscard]] std::exception_ptr arrived(const std::exception_ptr& thrown, Rank from) noexcept;

} // namespace corymb::detail

namespace corymb {
template <>
struct RemoteCodec<detail::Failure> {
    static std::size_t size(const detail::Failure& failure) {
        return detail::size_of_all(failure.kind, failure.code, failure.ranks, failure.type_name,
                                   failure.text);
    }
    static void write(RemoteWriter& to, const detail::Failure& failure) {
        detail::write_all(to, failure.kind, failure.code, failure.ranks, failure.type_name,
                          failure.text);
    }
    static detail::Failure read(RemoteReader& from) {
        detail::Failure failure;
        failure.kind = RemoteCodec<detail::Failure::Kind>::read(from);
        failure.code = RemoteCodec<std::uint32_t>::read(from);
        failure.ranks = RemoteCodec<std::vector<int>>::read(from);
        failure.type_name = RemoteCodec<std::string>::read(from);
        failure.text = RemoteCodec<std::string>::read(from);
        return failure;
    }
};
} // namespace corymb

// SPDX-License-Identifier: Apache-2.0
// Exceptions that travel from rank to rank.
#pragma once

#include <corymb/export.hpp>
#include <corymb/rank.hpp>

#include <concepts>
#include <stdexcept>
#include <string>
#include <typeinfo>

namespace corymb {

/// What a call on another rank has thrown, when its type is not known here.
class CORYMB_EXPORT UnknownRemoteException : public std::runtime_error {
public:
    UnknownRemoteException(const std::string& text, std::string type_name, Rank rank);
    /// As people write the type.
    [[nodiscard]] const std::string& type_name() const noexcept { return type_name_; }
    [[nodiscard]] Rank rank() const noexcept { return rank_; }

private:
    std::string type_name_;
    Rank rank_;
};

namespace detail {
/// An entry of the table of exceptions; lives as long as it is valid.
class CORYMB_EXPORT ExceptionEntry {
public:
    using Throw = void (*)(const std::string& text);
    ExceptionEntry(const std::type_info& type, Throw thrower);
    ExceptionEntry(const ExceptionEntry&) = delete;
    ExceptionEntry& operator=(const ExceptionEntry&) = delete;
    ~ExceptionEntry();

private:
    const char* name_;
};
} // namespace detail

/// While an object of this type lives, exceptions of type E arrive as E, made of their text:
///
///     const corymb::RemoteException<MyError> my_error_travels; // at namespace scope
template <class E>
    requires std::derived_from<E, std::exception> && std::constructible_from<E, std::string>
class RemoteException {
    detail::ExceptionEntry entry_{typeid(E), [](const std::string& text) {
                                      throw E(text);
                                  }};
};

} // namespace corymb

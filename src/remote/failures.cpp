// SPDX-License-Identifier: Apache-2.0
#include "remote/failures.hpp"

#include "remote/functions.hpp"

#include <corymb/error.hpp>
#include <corymb/remote_error.hpp>

#include <cstdlib>
#include <cxxabi.h>
#include <memory>
#include <typeinfo>

namespace corymb {

UnknownRemoteException::UnknownRemoteException(const std::string& text, std::string type_name,
                                               Rank rank)
    : std::runtime_error(text), type_name_(std::move(type_name)), rank_(rank) {}

namespace detail {

std::string readable(const char* type_name) {
    int status = 0;
    const std::unique_ptr<char, void (*)(void*)> name(
        abi::__cxa_demangle(type_name, nullptr, nullptr, &status), std::free);
    return name == nullptr ? type_name : name.get();
}

Failure failure_of(const std::exception_ptr& thrown) {
    Failure failure;
    try {
        std::rethrow_exception(thrown);
    } catch (const std::exception& error) {
        failure.type_name = typeid(error).name();
        failure.text = error.what();
        const auto* const own = dynamic_cast<const Error*>(&error);
        if (find_exception(failure.type_name) != nullptr) { // Also a type of the user's.
            failure.kind = Failure::Kind::registered;
        } else if (own != nullptr) {
            failure.kind = Failure::Kind::error;
            failure.code = static_cast<std::uint32_t>(own->code());
            failure.ranks = own->ranks();
        } else {
            failure.kind = Failure::Kind::foreign;
        }
    } catch (...) {
        const std::type_info* const type = abi::__cxa_current_exception_type();
        failure.type_name = type == nullptr ? "" : type->name();
        failure.text = "an exception without a text";
    }
    return failure;
}

std::exception_ptr exception_of(const Failure& failure, Rank from) noexcept {
    try {
        if (failure.kind == Failure::Kind::error) {
            throw Error(static_cast<Errc>(failure.code), failure.text, failure.ranks);
        }
        if (const auto thrower = failure.kind == Failure::Kind::registered
                                     ? find_exception(failure.type_name)
                                     : nullptr;
            thrower != nullptr) {
            thrower(failure.text);
        }
        const std::string name = readable(failure.type_name.c_str());
        throw UnknownRemoteException("rank " + std::to_string(from) + " has thrown " + name + ": " +
                                         failure.text,
                                     name, from);
    } catch (...) {
        return std::current_exception();
    }
}

std::exception_ptr arrived(const std::exception_ptr& thrown, Rank from) noexcept {
    try {
        return exception_of(failure_of(thrown), from);
    } catch (...) { // No memory.
        return std::current_exception();
    }
}

} // namespace detail
} // namespace corymb

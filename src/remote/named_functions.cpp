// SPDX-License-Identifier: Apache-2.0
#include "remote/named_functions.hpp"

#include "base/nearest_name.hpp"

#include <corymb/error.hpp>

#include <cstdint>
#include <utility>
#include <vector>

namespace corymb::detail {

void require_name(std::string_view name) {
    if (name.empty() || name.size() > name_bytes_most) {
        throw Error(Errc::invalid_argument, "the name of a function that others call has 1 to " +
                                                std::to_string(name_bytes_most) + " bytes, not " +
                                                std::to_string(name.size()));
    }
}

std::size_t size_of_named(std::string_view name, const ByteParts& argument) noexcept {
    std::size_t bytes = 1 + name.size();
    for (const auto part : argument) {
        bytes += part.size();
    }
    return bytes;
}

void write_named(RemoteWriter& to, std::string_view name, const ByteParts& argument) {
    const auto length = static_cast<std::uint8_t>(name.size());
    to.put(&length, sizeof length);
    to.put(name.data(), name.size());
    for (const auto part : argument) {
        to.put(part.data(), part.size());
    }
}

std::string_view read_name(RemoteReader& from) {
    const auto length = static_cast<std::size_t>(from.take(1).front());
    const auto letters = from.take(length);
    return {reinterpret_cast<const char*>(letters.data()), letters.size()};
}

void NamedFunctions::add(std::string name, NamedHandler handler) {
    require_name(name);
    if (handler == nullptr) {
        throw Error(Errc::invalid_argument, "there is no function to be called as '" + name + "'");
    }
    if (handlers_.contains(name)) {
        throw Error(Errc::invalid_argument,
                    "a function is offered as '" + name + "' already; withdraw it first");
    }
    handlers_.emplace(std::move(name), std::make_shared<const NamedHandler>(std::move(handler)));
}

void NamedFunctions::remove(std::string_view name) {
    const auto found = handlers_.find(name);
    if (found == handlers_.end()) {
        throw Error(Errc::unknown_name, "no function is offered as '" + std::string(name) + "'");
    }
    handlers_.erase(found);
}

std::shared_ptr<const NamedHandler> NamedFunctions::find(std::string_view name, Rank own) const {
    const auto found = handlers_.find(name);
    if (found != handlers_.end()) [[likely]] {
        return found->second;
    }
    std::vector<std::string> names;
    for (const auto& [offered, handler] : handlers_) {
        names.push_back(offered);
    }
    const std::string nearest = nearest_name(name, names);
    throw Error(Errc::unknown_name,
                "rank " + std::to_string(own) + " offers no function '" + std::string(name) + "'" +
                    (nearest.empty() ? "; it must offer it before it serves calls"
                                     : "; did you mean '" + nearest + "'?"),
                {own});
}

} // namespace corymb::detail

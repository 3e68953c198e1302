// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <corymb/remote_name.hpp>

#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>

namespace corymb::detail {

// A call by name has in front of its argument the name: one byte with its length, and its letters.

/// Throws Errc::invalid_argument for what cannot be a name.
void require_name(std::string_view name);
[[nodiscard]] std::size_t size_of_named(std::string_view name, const ByteParts& argument) noexcept;
void write_named(RemoteWriter& to, std::string_view name, const ByteParts& argument);
[[nodiscard]] std::string_view read_name(RemoteReader& from);

/// The functions that a rank offers by name.
class NamedFunctions {
public:
    /// Throws Errc::invalid_argument for a name that is there already.
    void add(std::string name, NamedHandler handler);
    /// Throws Errc::unknown_name.
    void remove(std::string_view name);
    /// Throws Errc::unknown_name, which says what rank `own` has.
    [[nodiscard]] std::shared_ptr<const NamedHandler> find(std::string_view name, Rank own) const;

private:
    std::map<std::string, std::shared_ptr<const NamedHandler>, std::less<>> handlers_;
};

} // namespace corymb::detail

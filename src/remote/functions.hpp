// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <corymb/detail/remote_function.hpp>
#include <corymb/remote_error.hpp>
#include <corymb/remote_object.hpp>

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <typeinfo>

namespace corymb::detail {

/// The functions that one rank was asked for last.
class FunctionCache {
public:
    /// Throws Errc::mismatch for an unknown function, Errc::invalid_argument for an ambiguous one.
    RemoteFunction::Invoke find(std::uint64_t id) {
        const Known& place = known_[id % known_.size()];
        return place.id == id && place.invoke != nullptr && is_current() ? place.invoke
                                                                         : find_anew(id);
    }

private:
    struct Known {
        std::uint64_t id = 0;
        RemoteFunction::Invoke invoke = nullptr;
    };
    RemoteFunction::Invoke find_anew(std::uint64_t id);
    [[nodiscard]] bool is_current() const noexcept;
    std::array<Known, 64> known_{};
    std::uint64_t changes_ = 0; ///< Libraries that had gone when `known_` was right.
};

/// Throws an exception of the type that has this name; null: none is registered.
[[nodiscard]] ExceptionEntry::Throw find_exception(const std::string& name);
/// The object, a `from`, as a `to`. Null: no pointer was ever converted so, in one step or more.
[[nodiscard]] void* upcast_object(void* object, const std::type_info& from,
                                  const std::type_info& to);

/// Equal in all processes.
[[nodiscard]] std::uint64_t hash_of(std::string_view text) noexcept;
/// A type's name as people write it.
[[nodiscard]] std::string readable(const char* type_name);

} // namespace corymb::detail

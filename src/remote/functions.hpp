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
/// The part of an object of type `whole` that begins `offset` bytes behind its begin, or a base of
/// that part, as a `part`. Null: no pointer to such a part was ever made, in one step or more.
[[nodiscard]] void* part_of(void* object, const std::type_info& whole, std::uint64_t offset,
                            const std::type_info& part);

/// Equal in all processes.
[[nodiscard]] std::uint64_t hash_of(std::string_view text) noexcept;
/// A type's name as people write it.
[[nodiscard]] std::string readable(const char* type_name);

} // namespace corymb::detail

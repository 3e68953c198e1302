// SPDX-License-Identifier: Apache-2.0
// The words of the file format for what ranks share.
#pragma once

#include <corymb/machine.hpp>

#include <array>
#include <string_view>

namespace corymb {

template <class Value>
struct Named {
    Value value;
    std::string_view name;
};

inline constexpr std::array<Named<SharedUse>, 3> shared_use_names{
    {{SharedUse::copies_from, "copies-from"},
     {SharedUse::copies_between, "copies-between"},
     {SharedUse::word, "word"}}};
inline constexpr std::array<Named<Scope>, 5> scope_names{{{Scope::pu, "pu"},
                                                          {Scope::l3, "l3"},
                                                          {Scope::numa, "numa"},
                                                          {Scope::package, "package"},
                                                          {Scope::machine, "machine"}}};
inline constexpr std::array<Named<DataOrigin>, 3> data_origin_names{
    {{DataOrigin::measured, "measured"},
     {DataOrigin::imported, "imported"},
     {DataOrigin::assumed, "assumed"}}};

template <class Value, std::size_t size>
[[nodiscard]] constexpr std::string_view
name_of(Value value, const std::array<Named<Value>, size>& names) noexcept {
    for (const Named<Value>& one : names) {
        if (one.value == value) {
            return one.name;
        }
    }
    return "";
}

} // namespace corymb

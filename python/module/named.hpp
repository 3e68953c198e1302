// SPDX-License-Identifier: Apache-2.0
// Values that Python gives and gets by name.
#pragma once

#include <corymb/error.hpp>

#include <array>
#include <cstddef>
#include <string>
#include <utility>

namespace corymb::python {

template <class T, std::size_t N>
using Names = std::array<std::pair<const char*, T>, N>;

/// The value of this name; `what` says of what, for the error. Throws Errc::unknown_name.
template <class T, std::size_t N>
T named(const Names<T, N>& known, const std::string& name, const std::string& what) {
    std::string names;
    for (const auto& [own, value] : known) {
        if (name == own) {
            return value;
        }
        names += (names.empty() ? "" : ", ") + std::string(own);
    }
    throw Error(Errc::unknown_name, "unknown " + what + " '" + name + "'; there are " + names);
}

/// The name of a value that is one of these.
template <class T, std::size_t N>
std::string name_of(const Names<T, N>& known, T value) {
    for (const auto& [name, own] : known) {
        if (value == own) {
            return name;
        }
    }
    return "?";
}

} // namespace corymb::python

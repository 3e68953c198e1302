// SPDX-License-Identifier: Apache-2.0
// Element types of the C interface: the library's by number, others by their size.
#pragma once

#include <corymb.h>
#include <corymb/types.hpp>

#include <cstddef>
#include <optional>

namespace corymb::c {

/// Bytes of an element; throws Errc::invalid_argument for a number that is no type.
[[nodiscard]] std::size_t size_of(corymb_type type);
/// The library's own type; none for one of the user's.
[[nodiscard]] inline std::optional<ElementType> standard(corymb_type type) noexcept {
    const int number = type;
    if (number < 0 || number >= static_cast<int>(element_type_count)) {
        return std::nullopt;
    }
    return static_cast<ElementType>(number);
}

} // namespace corymb::c

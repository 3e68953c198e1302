// SPDX-License-Identifier: Apache-2.0
#include "c/types.hpp"

#include "c/status.hpp"

#include <string>

namespace corymb::c {

namespace {

/// A type of the user's own is this bit and its size.
constexpr int own_type = 0x40000000;

} // namespace

std::size_t size_of(corymb_type type) {
    const std::size_t bytes = corymb_type_size(type);
    if (bytes == 0) [[unlikely]] {
        refuse("there is no element type " + std::to_string(static_cast<int>(type)) +
               "; use a value of corymb_type, or corymb_type_of_bytes for a type of your own");
    }
    return bytes;
}

static_assert(CORYMB_FLOAT64_INDEX64 + 1 == element_type_count);
static_assert(CORYMB_BOOL == static_cast<int>(ElementType::boolean));
static_assert(CORYMB_FLOAT64 == static_cast<int>(ElementType::float64));

} // namespace corymb::c

using namespace corymb;

corymb_type corymb_type_of_bytes(size_t bytes) noexcept {
    if (bytes == 0 || bytes >= static_cast<std::size_t>(c::own_type)) {
        c::note_failure(CORYMB_INVALID_ARGUMENT,
                        "corymb_type_of_bytes: an element has 1 to 2^30 - 1 bytes");
        return CORYMB_NO_TYPE;
    }
    return static_cast<corymb_type>(c::own_type + static_cast<int>(bytes));
}

size_t corymb_type_size(corymb_type type) noexcept {
    if (const auto known = c::standard(type)) {
        return element_bytes(*known);
    }
    return type > c::own_type ? static_cast<std::size_t>(type - c::own_type) : 0;
}

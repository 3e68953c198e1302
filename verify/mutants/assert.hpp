// SPDX-License-Identifier: Apache-2.0
// In the place of src/base/assert.hpp in the copy with mutants.
#pragma once

#include "mutant.hpp"

#include <corymb/error.hpp>

#include <string>

namespace corymb {

class BrokenInvariant final : public Error {
public:
    explicit BrokenInvariant(const std::string& text) : Error(Errc::internal, text) {}
};

inline constexpr bool has_debug_assertions = true;

} // namespace corymb

// Conditions are those of the copy, which are not mutated.
#define CORYMB_MUTANTS_ASSERT(is_always_on, ...)                                                   \
    do {                                                                                           \
        if (!(__VA_ARGS__)) [[unlikely]] {                                                         \
            ::corymb::mutants::failed(is_always_on, #__VA_ARGS__, __FILE__, __LINE__);             \
        }                                                                                          \
    } while (false)
#define CORYMB_ASSERT(...) CORYMB_MUTANTS_ASSERT(true, __VA_ARGS__)
#define CORYMB_DEBUG_ASSERT(...) CORYMB_MUTANTS_ASSERT(false, __VA_ARGS__)

// SPDX-License-Identifier: Apache-2.0
// What must hold at a place of the library, whatever its callers do. An invariant that is broken is
// a mistake of the library: the call ends with Errc::internal before its result is used.
//
// CORYMB_ASSERT is compiled in every build. It costs a comparison, so its condition uses what the
// function has at hand anyway. CORYMB_DEBUG_ASSERT is compiled where NDEBUG is not defined: in
// the presets for tests and in the packages of the tests. It may look at payloads and at shared
// words.
//
// An assertion throws, so no function between it and the caller of the operation is noexcept. Where
// one must be, because it runs as a callback or in a destructor, it catches and keeps the exception
// for the call that takes the outcome (docs/decisions/0056).
#pragma once

#include <corymb/error.hpp>

#include <string>

namespace corymb {

/// An invariant that does not hold. A type of its own: an operator of the user's may throw an Error
/// of any code, and that is no mistake of the library.
class BrokenInvariant final : public Error {
public:
    explicit BrokenInvariant(const std::string& text) : Error(Errc::internal, text) {}
};

/// Throws BrokenInvariant, whose text names the invariant and the place, and asks for a report.
[[noreturn, gnu::cold, gnu::noinline]] void invariant_broken(const char* invariant,
                                                             const char* file, int line);

#ifdef NDEBUG
inline constexpr bool has_debug_assertions = false;
#else
inline constexpr bool has_debug_assertions = true;
#endif

} // namespace corymb

#define CORYMB_ASSERT(...)                                                                         \
    do {                                                                                           \
        if (!(__VA_ARGS__)) [[unlikely]] {                                                         \
            ::corymb::invariant_broken(#__VA_ARGS__, __FILE__, __LINE__);                          \
        }                                                                                          \
    } while (false)

#define CORYMB_DEBUG_ASSERT(...)                                                                   \
    do {                                                                                           \
        if constexpr (::corymb::has_debug_assertions) {                                            \
            CORYMB_ASSERT(__VA_ARGS__);                                                            \
        }                                                                                          \
    } while (false)

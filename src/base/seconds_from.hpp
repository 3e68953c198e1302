// SPDX-License-Identifier: Apache-2.0
// Times that environment variables give.
#pragma once

#include <corymb/error.hpp>

#include <cstdint>
#include <cstdlib>
#include <optional>
#include <string>

namespace corymb {

/// The time in a variable, in nanoseconds; none when it is unset or empty. Throws
/// Errc::invalid_argument unless the value is a number of seconds above 0, at most 1e9.
[[nodiscard]] inline std::optional<std::int64_t> seconds_from(const char* variable) {
    const char* const text = std::getenv(variable);
    if (text == nullptr || *text == '\0') {
        return std::nullopt;
    }
    char* end = nullptr;
    const double seconds = std::strtod(text, &end);
    if (*end != '\0' || !(seconds > 0) || seconds > 1e9) {
        throw Error(Errc::invalid_argument, std::string(variable) + " is '" + text +
                                                "'; it must be a number of seconds above 0");
    }
    return static_cast<std::int64_t>(seconds * 1e9);
}

} // namespace corymb

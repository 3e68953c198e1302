// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

namespace corymb {

/// SHA-256 (FIPS 180-4) of the bytes, as 64 lower-case hex digits. O(length); thread-safe.
[[nodiscard]] std::string sha256_hex(std::string_view bytes);

} // namespace corymb

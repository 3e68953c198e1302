// SPDX-License-Identifier: Apache-2.0
#include "base/sha256.hpp"

// libmd's header assumes that the fixed-width types are there already.
#include <cstdint>
#include <sys/types.h>

#include <sha2.h>

#include <array>

namespace corymb {

std::string sha256_hex(std::string_view bytes) {
    SHA2_CTX context;
    SHA256Init(&context);
    SHA256Update(&context, reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size());
    std::array<std::uint8_t, SHA256_DIGEST_LENGTH> digest{};
    SHA256Final(digest.data(), &context);

    constexpr std::string_view digits = "0123456789abcdef";
    std::string hex;
    hex.reserve(2 * digest.size());
    for (const std::uint8_t byte : digest) {
        hex.push_back(digits[byte >> 4]);
        hex.push_back(digits[byte & 15u]);
    }
    return hex;
}

} // namespace corymb

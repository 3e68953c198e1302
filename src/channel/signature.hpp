// SPDX-License-Identifier: Apache-2.0
// A few bits about the call that a message belongs to. They ride in the word that announces the
// message, so that a receiver in another call notices at no cost.
#pragma once

#include <cstdint>

namespace corymb::channel {

/// Equal for equal calls; for different ones equal by an accident of 1 : 65536.
using Signature = std::uint16_t;

/// A count that only grows, with a signature: compares as the count does.
[[nodiscard]] constexpr std::uint64_t signed_count(std::uint64_t count,
                                                   Signature signature) noexcept {
    return count << 16U | signature;
}

/// Whether `word` has the count of `expected` under another signature. A word with a later count
/// says nothing.
[[nodiscard]] constexpr bool contradicts(std::uint64_t word, std::uint64_t expected) noexcept {
    return word != expected && (word >> 16U) == (expected >> 16U);
}

} // namespace corymb::channel

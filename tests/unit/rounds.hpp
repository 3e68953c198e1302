// SPDX-License-Identifier: Apache-2.0
// How long random tests of plans run.
#pragma once

namespace corymb {

/// Rounds of a random test: the usual number, an eighth of it under AddressSanitizer. That build
/// looks for accesses that are wrong and takes ten times as long; whether the plans are right, the
/// usual build finds out.
constexpr int rounds(int usual) noexcept {
#if defined(__SANITIZE_ADDRESS__)
    return (usual + 7) / 8;
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
    return (usual + 7) / 8;
#else
    return usual;
#endif
#else
    return usual;
#endif
}

} // namespace corymb

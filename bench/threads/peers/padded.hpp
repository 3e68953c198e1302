// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>

namespace corymb::bench {

/// Keeps variables of different writers apart; x86 prefetches lines in pairs.
inline constexpr std::size_t padding = 128;

/// A value with its lines to itself.
template <class T>
struct alignas(padding) Padded {
    T value{};
};

} // namespace corymb::bench

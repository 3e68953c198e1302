// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>

namespace corymb {

/// Unit of transfer between cores; the layout of every shared structure is in these.
inline constexpr std::size_t cache_line_bytes = 64;
/// Distance that keeps two lines of different writers apart: x86 prefetches lines in pairs.
inline constexpr std::size_t line_pair_bytes = 2 * cache_line_bytes;

} // namespace corymb

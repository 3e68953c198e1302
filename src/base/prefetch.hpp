// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>

namespace corymb {

/// Asks for a cache line that is to be written soon. It is no access: others may be writing there.
inline void prefetch_for_write(const void* line) noexcept {
#if defined(__x86_64__)
    // The builtin asks for reading, unless it is told of a processor that knows this; others skip
    // it.
    asm volatile("prefetchw %0" : : "m"(*static_cast<const std::byte*>(line)));
#else
    __builtin_prefetch(line, 1);
#endif
}

} // namespace corymb

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstdint>

namespace corymb {

namespace detail {
extern std::atomic<std::uint32_t> fork_count_value;
}

/// How often this process has come out of a fork since the library was loaded: handles that a child
/// has inherited are its parent's. One load.
inline std::uint32_t fork_count() noexcept {
    return detail::fork_count_value.load(std::memory_order_relaxed);
}

/// Throws Errc::invalid_argument when this process was forked since `fork_count_then`.
void check_not_forked(std::uint32_t fork_count_then);

} // namespace corymb

// SPDX-License-Identifier: Apache-2.0
// Whether and how fast ranks can copy out of another process, and into it: tried when a team's
// processes meet.
#pragma once

#include "base/remote_memory.hpp"

#include <corymb/kernel_copy.hpp>

#include <cstdint>

namespace corymb::team {

/// The mark of this process, the same for each call. Other processes may copy the 32 KiB at the
/// mark, and write there the bytes that it already holds.
[[nodiscard]] ProcessMark own_mark();

/// Whether copies into a marked process work: writes the mark that is there.
[[nodiscard]] bool can_write(std::uint32_t pid, const ProcessMark& mark) noexcept;

/// Measures copies out of a marked process, in nanoseconds: the best of a few, in less than 0.1 ms.
[[nodiscard]] KernelCopy time_copies(std::uint32_t pid, const ProcessMark& mark);

/// Measures copies within this process out of its caches, in 10^9 bytes per second: the best of a
/// few, in some microseconds. Throws std::bad_alloc.
[[nodiscard]] double time_own_copies();

} // namespace corymb::team

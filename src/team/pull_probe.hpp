// SPDX-License-Identifier: Apache-2.0
// Whether and how fast ranks can copy out of another process: tried when a team's processes meet.
#pragma once

#include <corymb/kernel_copy.hpp>

#include <cstdint>

namespace corymb::team {

/// Where others may look in this process, and the value that they must find there.
struct ProbePlace {
    std::uint64_t address;
    std::uint64_t value; ///< Nobody can guess it.
};

/// Of this process; the same for each call.
[[nodiscard]] ProbePlace probe_place();

/// Copies that place of another process. False: the kernel refuses, or it is another process.
[[nodiscard]] bool can_read(std::uint32_t pid, const ProbePlace& place) noexcept;

/// What copies out of a process that `can_read` accepts cost, in nanoseconds: the best of a few, in
/// less than 0.1 ms.
[[nodiscard]] KernelCopy time_copies(std::uint32_t pid, const ProbePlace& place);

} // namespace corymb::team

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

namespace corymb {

/// ", stopped", ", crashed", ", ended" or ", gone", of a process that may be another's; empty when
/// it runs or sleeps. To follow a process's number in a text.
[[nodiscard]] std::string process_state(std::uint32_t pid);

/// Whether a process has crashed and the kernel is still writing its core: none of its threads runs
/// any more. False where the kernel does not say so (before Linux 4.15).
[[nodiscard]] bool is_dumping_core(std::uint32_t pid) noexcept;

/// When a process began, in clock ticks since the machine did: together with its number this names
/// it for good. 0 when it is gone.
[[nodiscard]] std::uint64_t process_start(std::uint32_t pid);

} // namespace corymb

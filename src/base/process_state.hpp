// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

namespace corymb {

/// ", stopped", ", ended" or ", gone", of a process that may be another's; empty when it runs or
/// sleeps. To follow a process's number in a text.
[[nodiscard]] std::string process_state(std::uint32_t pid);

/// When a process began, in clock ticks since the machine did: together with its number this names
/// it for good. 0 when it is gone.
[[nodiscard]] std::uint64_t process_start(std::uint32_t pid);

} // namespace corymb

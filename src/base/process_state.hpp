// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

namespace corymb {

/// ", stopped", ", ended" or ", gone", of a process that may be another's; empty when it runs or
/// sleeps. To follow a process's number in a text.
[[nodiscard]] std::string process_state(std::uint32_t pid);

} // namespace corymb

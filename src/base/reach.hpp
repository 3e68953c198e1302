// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace corymb {

/// The participants: threads of one process, or of several processes of one machine. The kernel's
/// sleeping and its fences are cheaper within one process.
enum class Reach : std::uint32_t { process, machine };

} // namespace corymb

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

namespace corymb {

/// Copies `bytes` from an address in another process of this user (process_vm_readv). False: the
/// kernel refuses it, or the process or the memory is gone.
[[nodiscard]] bool read_process(std::uint32_t pid, const void* there, void* here,
                                std::size_t bytes) noexcept;

} // namespace corymb

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

namespace corymb {

/// Copies `bytes` from an address in another process of this user (process_vm_readv). False: the
/// kernel refuses it, or the process or the memory is gone.
[[nodiscard]] bool read_process(std::uint32_t pid, const void* there, void* here,
                                std::size_t bytes) noexcept;

/// Something in a process's memory by which others know that it is that process: numbers of
/// processes are used again.
struct ProcessMark {
    std::uint64_t address;
    std::uint64_t value; ///< Nobody can guess it.
};

/// Whether the process with this number has the mark. False: also when the kernel refuses to look.
[[nodiscard]] bool is_marked(std::uint32_t pid, const ProcessMark& mark) noexcept;

/// Copies `bytes` to an address in another process of this user (process_vm_writev), which
/// `is_marked` has just found to be the right one. False: as of `read_process`; a part may have
/// been copied.
[[nodiscard]] bool write_process(std::uint32_t pid, void* there, const void* here,
                                 std::size_t bytes) noexcept;

} // namespace corymb

// SPDX-License-Identifier: Apache-2.0
#include "base/remote_memory.hpp"

#include <algorithm>
#include <bit>
#include <sys/uio.h>

namespace corymb {

namespace {

/// `call` is process_vm_readv or process_vm_writev.
template <class Call>
bool move_all(Call call, std::uint32_t pid, void* there, void* here, std::size_t bytes) noexcept {
    constexpr std::size_t most = std::size_t{1} << 30; // The kernel moves at most 2 GiB a call.
    iovec local{here, 0};
    iovec remote{there, 0};
    while (bytes != 0) {
        local.iov_len = remote.iov_len = std::min(bytes, most);
        const ssize_t moved = call(static_cast<pid_t>(pid), &local, 1, &remote, 1, 0);
        if (moved <= 0) {
            return false;
        }
        local.iov_base = static_cast<std::byte*>(local.iov_base) + moved;
        remote.iov_base = static_cast<std::byte*>(remote.iov_base) + moved;
        bytes -= static_cast<std::size_t>(moved);
    }
    return true;
}

} // namespace

// The kernel only reads at the source; its interface has no const.

bool read_process(std::uint32_t pid, const void* there, void* here, std::size_t bytes) noexcept {
    return move_all(::process_vm_readv, pid, const_cast<void*>(there), here, bytes);
}

bool is_marked(std::uint32_t pid, const ProcessMark& mark) noexcept {
    std::uint64_t copy = 0;
    return read_process(pid, std::bit_cast<const void*>(mark.address), &copy, sizeof copy) &&
           copy == mark.value;
}

bool write_process(std::uint32_t pid, void* there, const void* here, std::size_t bytes) noexcept {
    return move_all(::process_vm_writev, pid, there, const_cast<void*>(here), bytes);
}

} // namespace corymb

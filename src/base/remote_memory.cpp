// SPDX-License-Identifier: Apache-2.0
#include "base/remote_memory.hpp"

#include <algorithm>
#include <sys/uio.h>

namespace corymb {

bool read_process(std::uint32_t pid, const void* there, void* here, std::size_t bytes) noexcept {
    constexpr std::size_t most = std::size_t{1} << 30; // The kernel moves at most 2 GiB a call.
    const auto* from = static_cast<const std::byte*>(there);
    auto* to = static_cast<std::byte*>(here);
    while (bytes != 0) {
        iovec local{to, std::min(bytes, most)};
        // The kernel only reads there; its interface has no const.
        iovec remote{const_cast<std::byte*>(from), local.iov_len};
        const ssize_t moved = ::process_vm_readv(static_cast<pid_t>(pid), &local, 1, &remote, 1, 0);
        if (moved <= 0) {
            return false;
        }
        from += moved;
        to += moved;
        bytes -= static_cast<std::size_t>(moved);
    }
    return true;
}

} // namespace corymb

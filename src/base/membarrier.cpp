// SPDX-License-Identifier: Apache-2.0
#include "base/membarrier.hpp"

#include <linux/membarrier.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace corymb::membarrier::detail {

namespace {

bool register_expedited() noexcept {
    const long offered = ::syscall(SYS_membarrier, MEMBARRIER_CMD_QUERY, 0, 0);
    return offered > 0 && (offered & MEMBARRIER_CMD_PRIVATE_EXPEDITED) != 0 &&
           ::syscall(SYS_membarrier, MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED, 0, 0) == 0;
}

} // namespace

const bool expedited = register_expedited();

void call() noexcept {
    ::syscall(SYS_membarrier, MEMBARRIER_CMD_PRIVATE_EXPEDITED, 0, 0);
}

} // namespace corymb::membarrier::detail

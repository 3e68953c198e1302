// SPDX-License-Identifier: Apache-2.0
#include "base/membarrier.hpp"

#include <linux/membarrier.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace corymb::membarrier {

namespace {

bool register_for(int command, int registration) noexcept {
    const long offered = ::syscall(SYS_membarrier, MEMBARRIER_CMD_QUERY, 0, 0);
    return offered > 0 && (offered & command) != 0 &&
           ::syscall(SYS_membarrier, registration, 0, 0) == 0;
}

const bool registered_private =
    register_for(MEMBARRIER_CMD_PRIVATE_EXPEDITED, MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED);
std::atomic<bool> registered_global{false};

} // namespace

namespace detail {

std::atomic<bool> asymmetric{registered_private};

void call(Reach reach) noexcept {
    if (reach == Reach::process && registered_private) [[likely]] {
        ::syscall(SYS_membarrier, MEMBARRIER_CMD_PRIVATE_EXPEDITED, 0, 0);
    } else if (reach == Reach::machine && registered_global.load(std::memory_order_relaxed)) {
        ::syscall(SYS_membarrier, MEMBARRIER_CMD_GLOBAL_EXPEDITED, 0, 0);
    } else {
        std::atomic_thread_fence(std::memory_order_seq_cst);
    }
}

} // namespace detail

bool join_machine() noexcept {
    // A process that cannot fence its own threads has full light fences already, which also serve
    // other processes; but its heavy ones would reach nobody.
    const bool registered =
        register_for(MEMBARRIER_CMD_GLOBAL_EXPEDITED, MEMBARRIER_CMD_REGISTER_GLOBAL_EXPEDITED);
    registered_global.store(registered, std::memory_order_relaxed);
    return registered;
}

void use_full_light_fences() noexcept {
    detail::asymmetric.store(false, std::memory_order_relaxed);
}

} // namespace corymb::membarrier

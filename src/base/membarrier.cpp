// SPDX-License-Identifier: Apache-2.0
#include "base/membarrier.hpp"

#include "base/clock.hpp"

#include <algorithm>
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
std::atomic<bool> full_at_both_ends{false};
thread_local detail::Watch watch;

/// Calls and watches how long that takes.
void timed_call(int command) noexcept {
    const std::int64_t begin_ns = now_ns();
    ::syscall(SYS_membarrier, command, 0, 0);
    if (watch.is_dear(begin_ns, now_ns())) {
        use_full_fences();
    }
}

} // namespace

namespace detail {

std::atomic<bool> asymmetric{registered_private};

void call(Reach reach) noexcept {
    // Acquire: after the last call of use_full_fences.
    if (reach == Reach::process && registered_private &&
        !full_at_both_ends.load(std::memory_order_acquire)) [[likely]] {
        timed_call(MEMBARRIER_CMD_PRIVATE_EXPEDITED);
    } else if (reach == Reach::machine && registered_global.load(std::memory_order_relaxed)) {
        timed_call(MEMBARRIER_CMD_GLOBAL_EXPEDITED);
    } else {
        std::atomic_thread_fence(std::memory_order_seq_cst);
    }
}

bool Watch::is_dear(std::int64_t begin_ns, std::int64_t end_ns) noexcept {
    // One call can take long by accident: a CPU that was stopped, a thread that lost its own.
    constexpr int accidents_max = 3;
    const bool is_long = last_end_ns_ != 0 && end_ns - begin_ns > begin_ns - last_end_ns_;
    last_end_ns_ = end_ns;
    long_calls_ = is_long ? long_calls_ + 1 : std::max(0, long_calls_ - 1);
    return long_calls_ > accidents_max;
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

void use_full_fences() noexcept {
    if (full_at_both_ends.load(std::memory_order_relaxed)) {
        return;
    }
    detail::asymmetric.store(false, std::memory_order_relaxed);
    if (registered_private) {
        ::syscall(SYS_membarrier, MEMBARRIER_CMD_PRIVATE_EXPEDITED, 0, 0);
    }
    full_at_both_ends.store(true, std::memory_order_release);
}

bool is_dear() noexcept {
    return full_at_both_ends.load(std::memory_order_relaxed);
}

} // namespace corymb::membarrier

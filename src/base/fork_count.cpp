// SPDX-License-Identifier: Apache-2.0
#include "base/fork_count.hpp"

#include <corymb/error.hpp>

#include <pthread.h>

namespace corymb {

namespace detail {

std::atomic<std::uint32_t> fork_count_value{0};

namespace {

[[maybe_unused]] const int registered = ::pthread_atfork(
    nullptr, nullptr, [] { fork_count_value.fetch_add(1, std::memory_order_relaxed); });

} // namespace

} // namespace detail

void check_not_forked(std::uint32_t fork_count_then) {
    if (fork_count_then != fork_count()) {
        throw Error(Errc::invalid_argument,
                    "this handle belongs to the parent process; a forked child opens the group or "
                    "attaches to the team for itself");
    }
}

} // namespace corymb

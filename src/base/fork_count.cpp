// SPDX-License-Identifier: Apache-2.0
#include "base/fork_count.hpp"

#include <pthread.h>

namespace corymb::detail {

std::atomic<std::uint32_t> fork_count_value{0};

namespace {

[[maybe_unused]] const int registered = ::pthread_atfork(
    nullptr, nullptr, [] { fork_count_value.fetch_add(1, std::memory_order_relaxed); });

} // namespace

} // namespace corymb::detail

// SPDX-License-Identifier: Apache-2.0
#include "channel/meanwhile.hpp"

#include "base/clock.hpp"

#include <algorithm>

namespace corymb::channel {

namespace {

thread_local Meanwhile* current = nullptr;

} // namespace

Meanwhile* meanwhile() noexcept {
    return current;
}

void set_meanwhile(Meanwhile* others) noexcept {
    current = others;
}

bool rest_meanwhile(std::int64_t ns) noexcept {
    if (current == nullptr) {
        return false;
    }
    const std::int64_t end = now_ns() + ns;
    auto is_over = [end]() noexcept {
        return now_ns() >= end;
    };
    auto never = []() noexcept {
        return false;
    };
    auto left = [end]() noexcept {
        return std::max<std::int64_t>(end - now_ns(), 0);
    };
    return current->wait({Look(is_over), Look(never), TimeLeft(left)}) != Meanwhile::Outcome::alone;
}

} // namespace corymb::channel

// SPDX-License-Identifier: Apache-2.0
// For what others are about to say, when a team breaks: asking until they have, for a while.
#pragma once

#include <chrono>
#include <thread>

namespace corymb::detail {

/// What `ask` returns first that `is_enough`, or, after `at_most`, what it returns then.
template <class Ask, class IsEnough>
[[nodiscard]] auto ask_again(const Ask& ask, const IsEnough& is_enough,
                             std::chrono::nanoseconds at_most) {
    const auto end = std::chrono::steady_clock::now() + at_most;
    auto answer = ask();
    while (!is_enough(answer) && std::chrono::steady_clock::now() < end) {
        std::this_thread::sleep_for(std::chrono::microseconds(100));
        answer = ask();
    }
    return answer;
}

/// A rank's first message leaves before its log says what it calls: for so long who has met one of
/// another call asks what that is.
inline constexpr std::chrono::milliseconds logs_are_late{10};

} // namespace corymb::detail

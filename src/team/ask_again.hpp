// SPDX-License-Identifier: Apache-2.0
// Asks again for a while. When a team breaks, other ranks' explanations may still be on their way.
#pragma once

#include <chrono>
#include <thread>

namespace corymb::detail {

/// Calls `ask` until its answer satisfies `is_enough`, or for `at_most`. Returns the last answer.
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

/// A rank's first message leaves before its log says what it calls. A rank that has met a message
/// of another call asks for the log for this long.
inline constexpr std::chrono::milliseconds logs_are_late{10};

} // namespace corymb::detail

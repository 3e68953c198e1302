// SPDX-License-Identifier: Apache-2.0
#include <corymb/detail/together.hpp>

#include <corymb/error.hpp>

#include <fmt/format.h>

namespace corymb::detail {

Task<> sound_alarm(std::chrono::nanoseconds limit, Together& together, bool& is_late) {
    try {
        co_await this_task::sleep_for(limit);
    } catch (const Error&) {
        co_return; // The task has ended before.
    }
    is_late = true;
    together.stop();
}

void throw_late(std::chrono::nanoseconds limit) {
    const double seconds = std::chrono::duration<double>(limit).count();
    throw Error(Errc::timeout,
                fmt::format("the task has not come to its end within {} s, and was asked to stop",
                            seconds));
}

} // namespace corymb::detail

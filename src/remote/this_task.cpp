// SPDX-License-Identifier: Apache-2.0
#include <corymb/this_task.hpp>

#include "base/clock.hpp"
#include "remote/scheduler_state.hpp"

namespace corymb {

void detail::TimerAwait::enter(Strand& of, std::coroutine_handle<> at) {
    of.scheduler->timers.make_room();
    begin(of, at, what);
    of.scheduler->timers.push(*this);
}

void detail::TimerAwait::withdraw() noexcept {
    strand().scheduler->timers.remove(*this);
}

std::int64_t detail::TimerAwait::due_after(std::chrono::nanoseconds time) noexcept {
    return now_ns() + bounded_ns(time);
}

} // namespace corymb

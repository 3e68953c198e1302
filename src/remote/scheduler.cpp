// SPDX-License-Identifier: Apache-2.0
#include <corymb/scheduler.hpp>

#include "remote/scheduler_state.hpp"

#include <corymb/finish.hpp>

#include <utility>

namespace corymb {

Scheduler::Scheduler(const SchedulerOptions& options)
    : state_(new detail::SchedulerState(options), detail::end_handle<detail::SchedulerState>) {}
Scheduler::Scheduler(Scheduler&& other) noexcept = default;
Scheduler& Scheduler::operator=(Scheduler&& other) noexcept = default;
Scheduler::~Scheduler() = default;

detail::SchedulerState& Scheduler::state() const {
    if (state_ == nullptr) {
        refuse_empty("scheduler", "it was moved from");
    }
    static_cast<void>(state_->user.enter()); // Refuses another thread and a forked child.
    return *state_;
}

void Scheduler::require_can_run() const {
    static_cast<void>(state());
    detail::require_no_task_here();
}

void Scheduler::drive(detail::Strand& main, const std::stop_token& stop) {
    const detail::InCall<detail::SchedulerState> call(state());
    call->run(main, stop);
}

void Scheduler::throw_others(std::exception_ptr of_main) {
    auto errors = std::exchange(state().errors, {});
    if (of_main != nullptr) {
        errors.insert(errors.begin(), std::move(of_main));
    }
    if (!errors.empty()) {
        detail::throw_all(std::move(errors));
    }
}

std::size_t Scheduler::poll() {
    const detail::InCall<detail::SchedulerState> call(state());
    call->poll();
    return call->running_count;
}

int Scheduler::descriptor() {
    const detail::InCall<detail::SchedulerState> call(state());
    return call->descriptor();
}

std::size_t Scheduler::size() const noexcept {
    return state_ == nullptr ? 0 : state_->running_count;
}

void Scheduler::request_stop() {
    state().stop.request_stop();
}

std::stop_token Scheduler::stop_token() const {
    return state().stop.get_token();
}

} // namespace corymb

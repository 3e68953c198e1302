// SPDX-License-Identifier: Apache-2.0
// What a task does with itself: gives others their turn, sleeps, learns whether it shall stop.
#pragma once

#include <corymb/detail/strand.hpp>
#include <corymb/export.hpp>
#include <corymb/task.hpp>

#include <chrono>
#include <coroutine>
#include <cstddef>
#include <cstdint>
#include <stop_token>

namespace corymb {

namespace detail {

struct YieldAwait {
    static constexpr bool await_ready() noexcept { return false; }
    template <TaskPromiseOf P>
    void await_suspend(std::coroutine_handle<P> awaiting) noexcept {
        Strand& own = *awaiting.promise().strand;
        own.suspend(awaiting, "its next turn");
        own.make_ready();
    }
    void await_resume() const noexcept {}
};

/// A wait for a time. Lies in the scheduler's heap of timers meanwhile.
class CORYMB_EXPORT TimerAwait final : public Suspension {
public:
    explicit TimerAwait(std::int64_t due_ns) noexcept : due_ns_(due_ns) {}
    /// When a wait ends that begins now and lasts so long.
    [[nodiscard]] static std::int64_t due_after(std::chrono::nanoseconds time) noexcept;
    ~TimerAwait() {
        if (is_waiting()) {
            withdraw();
        }
    }
    static constexpr bool await_ready() noexcept { return false; }
    template <TaskPromiseOf P>
    void await_suspend(std::coroutine_handle<P> awaiting) {
        enter(*awaiting.promise().strand, awaiting);
    }
    void await_resume() const { require_not_stopped(what); }

private:
    friend class TimerQueue; // src/remote/timer_queue.hpp
    static constexpr const char* what = "a time";
    void enter(Strand& of, std::coroutine_handle<> at);
    void withdraw() noexcept override;
    std::int64_t due_ns_;   ///< On the monotonic clock.
    std::size_t index_ = 0; ///< Invariant: its place in the heap.
};

} // namespace detail

/// Functions for the running task. Each wait but `yield` ends with Errc::interrupted when the task
/// is asked to stop.
namespace this_task {

/// Lets each other task that can go on have a turn first. O(1).
inline detail::YieldAwait yield() noexcept {
    return {};
}
/// At least so long; how much longer depends on the other tasks. O(log timers).
inline detail::TimerAwait sleep_for(std::chrono::nanoseconds time) {
    return detail::TimerAwait(detail::TimerAwait::due_after(time));
}
inline detail::TimerAwait sleep_until(std::chrono::steady_clock::time_point time) {
    return detail::TimerAwait(
        std::chrono::duration_cast<std::chrono::nanoseconds>(time.time_since_epoch()).count());
}
/// Asked to stop: by `run`, by the scheduler or by what was given to `spawn`. Throws
/// Errc::invalid_argument outside of tasks.
inline std::stop_token stop_token() {
    return detail::running_strand().token;
}

} // namespace this_task
} // namespace corymb

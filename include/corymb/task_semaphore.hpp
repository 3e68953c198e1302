// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <corymb/detail/strand.hpp>
#include <corymb/task.hpp>

#include <coroutine>
#include <cstddef>

namespace corymb {

/// Counts permits for the tasks of one scheduler. Those that wait get theirs in the order in which
/// they came. Outlives the tasks that use it. All functions take constant time.
class TaskSemaphore {
public:
    explicit TaskSemaphore(std::size_t permits) noexcept : permits_(permits) {}
    TaskSemaphore(const TaskSemaphore&) = delete;
    TaskSemaphore& operator=(const TaskSemaphore&) = delete;

    /// Permits that are free.
    [[nodiscard]] std::size_t permits() const noexcept { return permits_; }
    /// Tasks that wait for one.
    [[nodiscard]] std::size_t waiting() const noexcept { return waiting_.size(); }
    /// Takes a permit if one is free.
    [[nodiscard]] bool try_acquire() noexcept {
        const bool is_free = permits_ != 0;
        permits_ -= is_free ? 1 : 0;
        return is_free;
    }
    /// Gives a permit to the task that waits longest, if any.
    void release() noexcept {
        if (waiting_.is_empty()) {
            ++permits_;
        } else {
            waiting_.wake_first();
        }
    }

    class Acquire final : public detail::WaitQueue::Entry {
    public:
        explicit Acquire(TaskSemaphore& of) noexcept : of_(&of) {}
        [[nodiscard]] bool await_ready() noexcept { return of_->try_acquire(); }
        template <detail::TaskPromiseOf P>
        void await_suspend(std::coroutine_handle<P> awaiting) {
            begin(*awaiting.promise().strand, awaiting, what);
            of_->waiting_.push(*this);
        }
        void await_resume() const { require_not_stopped(what); }

    private:
        static constexpr const char* what = "a permit of a semaphore";
        TaskSemaphore* of_;
    };
    /// For co_await: takes a permit, when there is one. Throws Errc::interrupted, without a permit,
    /// if the task is asked to stop while it waits.
    [[nodiscard]] Acquire acquire() noexcept { return Acquire(*this); }

private:
    std::size_t permits_;
    detail::WaitQueue waiting_; ///< Invariant: empty unless `permits_` is 0.
};

} // namespace corymb

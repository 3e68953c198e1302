// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <corymb/detail/strand.hpp>
#include <corymb/error.hpp>
#include <corymb/task.hpp>

#include <coroutine>
#include <cstddef>
#include <deque>
#include <optional>
#include <utility>

namespace corymb {

/// Hands values from tasks to tasks of one scheduler, in order. Outlives the tasks that use it.
template <class T>
class TaskChannel {
public:
    /// Senders wait while `capacity` values wait to be received; 0: each waits for a receiver.
    explicit TaskChannel(std::size_t capacity) noexcept : capacity_(capacity) {}
    TaskChannel(const TaskChannel&) = delete;
    TaskChannel& operator=(const TaskChannel&) = delete;

    /// Values that wait to be received, without those of senders that wait.
    [[nodiscard]] std::size_t size() const noexcept { return values_.size(); }
    [[nodiscard]] bool is_closed() const noexcept { return is_closed_; }

    /// Nothing more can be sent; what was sent can be received. Ends the waits of receivers, and of
    /// senders, whose values are lost.
    void close() noexcept {
        is_closed_ = true;
        while (!receivers_.is_empty()) {
            receivers_.wake_first();
        }
        while (!senders_.is_empty()) {
            senders_.wake_first();
        }
    }

    class Send final : public detail::WaitQueue::Entry {
    public:
        Send(TaskChannel& to, T value) : to_(&to), value_(std::move(value)) {}
        [[nodiscard]] bool await_ready() {
            to_->require_open();
            if (!to_->receivers_.is_empty()) {
                static_cast<Receive&>(to_->receivers_.first()).value_ = take();
                to_->receivers_.wake_first();
                return true;
            }
            if (to_->values_.size() < to_->capacity_) {
                to_->values_.push_back(*take());
                return true;
            }
            return false;
        }
        template <detail::TaskPromiseOf P>
        void await_suspend(std::coroutine_handle<P> awaiting) {
            begin(*awaiting.promise().strand, awaiting, what);
            to_->senders_.push(*this);
        }
        void await_resume() const {
            require_not_stopped(what);
            if (value_.has_value()) { // Nobody has taken it.
                to_->require_open();
            }
        }

    private:
        friend TaskChannel;
        static constexpr const char* what = "room in a channel of tasks";
        [[nodiscard]] std::optional<T> take() { return std::exchange(value_, std::nullopt); }
        TaskChannel* to_;
        std::optional<T> value_;
    };

    class Receive final : public detail::WaitQueue::Entry {
    public:
        explicit Receive(TaskChannel& from) noexcept : from_(&from) {}
        [[nodiscard]] bool await_ready() {
            value_ = from_->next();
            return value_.has_value() || from_->is_closed_;
        }
        template <detail::TaskPromiseOf P>
        void await_suspend(std::coroutine_handle<P> awaiting) {
            begin(*awaiting.promise().strand, awaiting, what);
            from_->receivers_.push(*this);
        }
        [[nodiscard]] std::optional<T> await_resume() {
            require_not_stopped(what);
            return std::move(value_);
        }

    private:
        friend Send;
        static constexpr const char* what = "a value of a channel of tasks";
        TaskChannel* from_;
        std::optional<T> value_;
    };

    /// For co_await: returns when the value is in the channel, or a receiver has it. Throws
    /// Errc::invalid_argument for a closed channel; Errc::interrupted, and nothing was sent, if the
    /// task is asked to stop while it waits.
    [[nodiscard]] Send send(T value) { return Send(*this, std::move(value)); }
    /// For co_await: the next value; none if the channel is closed and empty. Throws
    /// Errc::interrupted if the task is asked to stop while it waits.
    [[nodiscard]] Receive receive() noexcept { return Receive(*this); }

private:
    void require_open() const {
        if (is_closed_) {
            throw Error(Errc::invalid_argument, "the channel of tasks is closed");
        }
    }
    /// The next value, and room for that of the sender that waits longest.
    [[nodiscard]] std::optional<T> next() {
        std::optional<T> value;
        if (!values_.empty()) {
            value = std::move(values_.front());
            values_.pop_front();
        }
        if (!is_closed_ && !senders_.is_empty()) {
            std::optional<T> sent = static_cast<Send&>(senders_.first()).take();
            if (value.has_value()) {
                values_.push_back(std::move(*sent));
            } else {
                value = std::move(sent);
            }
            senders_.wake_first();
        }
        return value;
    }

    std::size_t capacity_;
    std::deque<T> values_;
    detail::WaitQueue senders_;   ///< Invariant: empty unless there is no room.
    detail::WaitQueue receivers_; ///< Invariant: empty unless there is no value.
    bool is_closed_ = false;
};

} // namespace corymb

// SPDX-License-Identifier: Apache-2.0
// Tasks: coroutines of one rank that take turns on its thread. Scheduler runs them.
// docs/reference/tasks.md says how they are used.
#pragma once

#include <corymb/detail/strand.hpp>
#include <corymb/export.hpp>
#include <corymb/request.hpp>

#include <concepts>
#include <coroutine>
#include <exception>
#include <memory>
#include <stop_token>
#include <type_traits>
#include <utility>
#include <variant>

namespace corymb {

template <class T>
class Task;

namespace detail {

/// What the promises of all tasks have.
class CORYMB_EXPORT TaskPromiseBase {
public:
    /// Goes on with the task that awaits this one, or ends the strand.
    struct Final {
        static constexpr bool await_ready() noexcept { return false; }
        template <std::derived_from<TaskPromiseBase> P>
        void await_suspend(std::coroutine_handle<P> ended) noexcept {
            TaskPromiseBase& promise = ended.promise();
            if (promise.awaiting) {
                promise.strand->go_on = promise.awaiting;
            } else {
                promise.strand->end(promise.thrown());
            }
        }
        void await_resume() const noexcept {}
    };

    static std::suspend_always initial_suspend() noexcept { return {}; }
    static Final final_suspend() noexcept { return {}; }

    Strand* strand = nullptr;         ///< Set when the task is started.
    std::coroutine_handle<> awaiting; ///< The task that awaits this one; null for the root.

protected:
    TaskPromiseBase() noexcept = default;
    TaskPromiseBase(const TaskPromiseBase&) = delete;
    TaskPromiseBase& operator=(const TaskPromiseBase&) = delete;
    ~TaskPromiseBase() = default;

private:
    [[nodiscard]] virtual std::exception_ptr thrown() const noexcept = 0;
};

/// The promise of a task: what a scheduler resumes is awaited in tasks only.
template <class P>
concept TaskPromiseOf = std::derived_from<P, TaskPromiseBase>;

/// The strand of the task that awaits it, at once.
struct OwnStrand {
    Strand* strand = nullptr;
    static constexpr bool await_ready() noexcept { return false; }
    template <TaskPromiseOf P>
    bool await_suspend(std::coroutine_handle<P> awaiting) noexcept {
        strand = awaiting.promise().strand;
        return false;
    }
    [[nodiscard]] Strand& await_resume() const noexcept { return *strand; }
};

/// A request of a team that a task awaits. The scheduler goes on with the team meanwhile.
class CORYMB_EXPORT RequestAwait {
public:
    explicit RequestAwait(Request& awaited) noexcept : request_(&awaited) {}
    RequestAwait(const RequestAwait&) = delete;
    RequestAwait& operator=(const RequestAwait&) = delete;
    ~RequestAwait(); ///< A task that ends earlier leaves the request to its own destructor.

    [[nodiscard]] bool await_ready() { return request_->await_ready(); }
    template <TaskPromiseOf P>
    void await_suspend(std::coroutine_handle<P> awaiting) {
        awaiting.promise().strand->suspend(awaiting, "a request of a team");
        attend(*awaiting.promise().strand);
    }
    /// A coroutine that is no task.
    void await_suspend(std::coroutine_handle<> awaiting) { request_->await_suspend(awaiting); }
    void await_resume() { request_->await_resume(); }

private:
    void attend(Strand& of);
    void note_end() noexcept;
    Request* request_;
    Strand* strand_ = nullptr; ///< Null: it does not wait.
    class TeamSource* source_ = nullptr;
};

/// The end of a task: nothing yet, a value or an exception.
template <class T>
class TaskOutcome {
public:
    using Stored =
        std::conditional_t<std::is_void_v<T>, std::monostate,
                           std::conditional_t<std::is_reference_v<T>, std::add_pointer_t<T>, T>>;
    template <class V>
    void set_value(V&& value) {
        if constexpr (std::is_reference_v<T>) {
            outcome_.template emplace<1>(std::addressof(value));
        } else {
            outcome_.template emplace<1>(std::forward<V>(value));
        }
    }
    void set_thrown(std::exception_ptr thrown) noexcept {
        outcome_.template emplace<2>(std::move(thrown));
    }
    [[nodiscard]] std::exception_ptr thrown() const noexcept {
        return outcome_.index() == 2 ? std::get<2>(outcome_) : nullptr;
    }
    /// The value, once; throws the exception.
    T take() {
        if (outcome_.index() == 2) {
            std::rethrow_exception(std::get<2>(outcome_));
        }
        if constexpr (std::is_reference_v<T>) {
            return static_cast<T>(*std::get<1>(outcome_));
        } else if constexpr (!std::is_void_v<T>) {
            return std::move(std::get<1>(outcome_));
        }
    }

private:
    std::variant<std::monostate, Stored, std::exception_ptr> outcome_;
};

template <class T>
class TaskPromise final : public TaskPromiseBase {
public:
    Task<T> get_return_object() noexcept;
    template <class V = T>
        requires std::convertible_to<V&&, T>
    void return_value(V&& value) {
        outcome.set_value(std::forward<V>(value));
    }
    void unhandled_exception() noexcept { outcome.set_thrown(std::current_exception()); }
    [[nodiscard]] std::exception_ptr thrown() const noexcept override { return outcome.thrown(); }

    TaskOutcome<T> outcome;
};

template <>
class TaskPromise<void> final : public TaskPromiseBase {
public:
    Task<void> get_return_object() noexcept;
    void return_void() noexcept { outcome.set_value(std::monostate{}); }
    void unhandled_exception() noexcept { outcome.set_thrown(std::current_exception()); }
    [[nodiscard]] std::exception_ptr thrown() const noexcept override { return outcome.thrown(); }

    TaskOutcome<void> outcome;
};

/// Starts a strand with a task as its root.
struct TaskAccess {
    /// Throws Errc::invalid_argument for no task, and for one that has run.
    template <class T>
    static Strand& start(SchedulerState& of, Task<T>& task, std::stop_token token, bool is_held) {
        const auto root = task.coroutine_;
        require_not_started(root);
        Strand& strand = start_strand(of, root, std::move(token), is_held);
        root.promise().strand = &strand;
        task.coroutine_ = nullptr;
        return strand;
    }
    template <class P>
    static void require_not_started(std::coroutine_handle<P> task) {
        if (!task || task.promise().strand != nullptr) [[unlikely]] {
            refuse_no_task();
        }
    }
    /// The outcome of a strand whose root is a Task<T>.
    template <class T>
    static TaskOutcome<T>& outcome(const Strand& strand) noexcept {
        using Handle = std::coroutine_handle<TaskPromise<T>>;
        return Handle::from_address(strand.root.address()).promise().outcome;
    }
};

} // namespace detail

/// Lets a task await a request of a team: it gives nothing, or throws as Request::wait does. A stop
/// does not end the wait, since other ranks count on this one.
inline detail::RequestAwait operator co_await(Request& request) noexcept {
    return detail::RequestAwait(request);
}
inline detail::RequestAwait operator co_await(Request&& request) noexcept {
    return detail::RequestAwait(request);
}

/// A coroutine that gives a T, and is started when it is awaited in another task, once, or spawned.
/// Movable. A task that goes away before its end ends: its variables are destroyed.
///
/// A task may await other tasks, requests of a team, and what the headers beside this one offer. In
/// between it has the rank's thread alone. Parameters are copied into it; references and the
/// captures of a lambda must outlive it.
template <class T = void>
class [[nodiscard("a task does nothing until it is awaited or spawned")]] Task {
public:
    using promise_type = detail::TaskPromise<T>;

    Task() noexcept = default; ///< No task.
    Task(Task&& other) noexcept : coroutine_(std::exchange(other.coroutine_, nullptr)) {}
    Task& operator=(Task&& other) noexcept {
        if (this != &other) {
            end();
            coroutine_ = std::exchange(other.coroutine_, nullptr);
        }
        return *this;
    }
    Task(const Task&) = delete;
    Task& operator=(const Task&) = delete;
    ~Task() { end(); }

    [[nodiscard]] bool valid() const noexcept { return coroutine_ != nullptr; }

    /// Runs the task as a part of the awaiting one; gives its result or throws its exception.
    /// Throws Errc::invalid_argument for no task, and for one that was awaited already.
    auto operator co_await() && noexcept { return Await{coroutine_}; }

private:
    struct Await {
        std::coroutine_handle<promise_type> awaited;

        [[nodiscard]] bool await_ready() const {
            detail::TaskAccess::require_not_started(awaited);
            return false;
        }
        template <detail::TaskPromiseOf P>
        void await_suspend(std::coroutine_handle<P> awaiting) noexcept {
            detail::Strand& own = *awaiting.promise().strand;
            awaited.promise().strand = &own;
            awaited.promise().awaiting = awaiting;
            own.go_on = awaited;
        }
        T await_resume() { return awaited.promise().outcome.take(); }
    };

    friend detail::TaskPromise<T>;
    friend detail::TaskAccess;
    explicit Task(std::coroutine_handle<promise_type> coroutine) noexcept : coroutine_(coroutine) {}
    void end() noexcept {
        if (coroutine_) {
            coroutine_.destroy();
        }
    }
    std::coroutine_handle<promise_type> coroutine_;
};

template <class T>
Task<T> detail::TaskPromise<T>::get_return_object() noexcept {
    return Task<T>(std::coroutine_handle<TaskPromise>::from_promise(*this));
}
inline Task<void> detail::TaskPromise<void>::get_return_object() noexcept {
    return Task<void>(std::coroutine_handle<TaskPromise>::from_promise(*this));
}

} // namespace corymb

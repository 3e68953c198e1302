// SPDX-License-Identifier: Apache-2.0
// A function that runs in turns on a stack of its own: the side that knows the library. How stacks
// are switched is said by the derived class (corymb/boost/stack_task.hpp).
#pragma once

#include <corymb/detail/strand.hpp>
#include <corymb/export.hpp>
#include <corymb/task.hpp>

#include <coroutine>
#include <exception>
#include <memory>
#include <optional>
#include <type_traits>
#include <utility>

namespace corymb::detail {

/// The task that runs the function is its host: when the function waits in a blocking call, the
/// host waits, and goes on with the function afterwards.
class CORYMB_EXPORT StackRun {
public:
    StackRun();
    StackRun(const StackRun&) = delete;
    StackRun& operator=(const StackRun&) = delete;

    /// The host runs the function until it waits. Whether it has ended.
    bool go_on();
    /// The function waits for this task; null: in a blocking call.
    [[nodiscard]] Task<>* awaited() noexcept { return awaited_; }

    /// For co_await in the host: the end of that call.
    struct CallEnd {
        StackRun* run;
        static constexpr bool await_ready() noexcept { return false; }
        template <TaskPromiseOf P>
        void await_suspend(std::coroutine_handle<P> host) {
            run->suspend(*host.promise().strand, host);
        }
        void await_resume() const noexcept {}
    };

    /// The function that runs on this thread. Throws Errc::invalid_argument outside of one.
    static StackRun& running();
    /// In the function: lets the host await a task, and gives its result or throws its exception.
    /// Throws Errc::interrupted when the host ends.
    template <class T>
    T await(Task<T> task);
    /// In the function: as `await`, of the request. False: the host has ended, and the request is
    /// as it was.
    bool complete(Request& request);

protected:
    ~StackRun();
    /// Ends the function, which waits by itself from here on; for the derived class's destructor.
    void finish() noexcept;
    bool is_over_ = false;

private:
    virtual void switch_in() noexcept = 0;  ///< From the host to the function.
    virtual void switch_out() noexcept = 0; ///< From the function to the host.
    void suspend(Strand& of, std::coroutine_handle<> host);
    /// Lets the host await the task. False: it has ended.
    bool try_await(Task<> task);
    [[noreturn]] static void refuse_alone();

    struct Calls; ///< Blocking calls of the function.
    std::unique_ptr<Calls> calls_;
    Task<>* awaited_ = nullptr;
};

/// Runs a task of another type to its end.
template <class T>
Task<> keep_outcome(Task<T> task, TaskOutcome<T>& outcome) {
    try {
        if constexpr (std::is_void_v<T>) {
            co_await std::move(task);
            outcome.set_value(std::monostate());
        } else if constexpr (std::is_reference_v<T>) {
            T result = co_await std::move(task);
            outcome.set_value(result);
        } else {
            outcome.set_value(co_await std::move(task));
        }
    } catch (...) {
        outcome.set_thrown(std::current_exception());
    }
}

template <class T>
T StackRun::await(Task<T> task) {
    TaskOutcome<T> outcome;
    if (!try_await(keep_outcome(std::move(task), outcome))) {
        refuse_alone();
    }
    return outcome.take();
}

} // namespace corymb::detail

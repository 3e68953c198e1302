// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <corymb/task.hpp>

#include <coroutine>
#include <optional>
#include <type_traits>
#include <utility>

namespace corymb::detail {

/// For co_await, once: a value that is there already, or the result of a task.
template <class T>
class [[nodiscard("await it")]] NowOrLater {
public:
    using Value = std::conditional_t<std::is_void_v<T>, bool, T>;
    NowOrLater(Value value) : now_(std::move(value)) {}
    NowOrLater(Task<T> task) : later_(std::move(task)) {}

    [[nodiscard]] bool await_ready() const noexcept { return now_.has_value(); }
    template <TaskPromiseOf P>
    void await_suspend(std::coroutine_handle<P> awaiting) {
        auto await = std::move(later_).operator co_await();
        static_cast<void>(await.await_ready()); // Refuses a task that has run.
        await.await_suspend(awaiting);
    }
    T await_resume() {
        if (!now_.has_value()) {
            return std::move(later_).operator co_await().await_resume();
        }
        if constexpr (!std::is_void_v<T>) {
            return std::move(*now_);
        }
    }

private:
    std::optional<Value> now_;
    Task<T> later_;
};

} // namespace corymb::detail

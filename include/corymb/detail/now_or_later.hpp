// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <corymb/export.hpp>
#include <corymb/task.hpp>

#include <coroutine>
#include <optional>
#include <type_traits>
#include <utility>

namespace corymb::detail {

/// In a task of a rank: counts what it has had without a wait, as calls of its own rank. Whether it
/// has to pause, for whoever would be served meanwhile.
[[nodiscard]] CORYMB_EXPORT bool is_pause_due() noexcept;

/// For co_await, once, by a task of a rank: a value that is there already, or the result of a task.
template <class T>
class [[nodiscard("await it")]] NowOrLater {
public:
    using Value = std::conditional_t<std::is_void_v<T>, bool, T>;
    NowOrLater(Value value) : now_(std::move(value)) {}
    NowOrLater(Task<T> task) : later_(std::move(task)) {}

    [[nodiscard]] bool await_ready() const noexcept { return now_.has_value() && !is_pause_due(); }
    template <TaskPromiseOf P>
    void await_suspend(std::coroutine_handle<P> awaiting) {
        if (now_.has_value()) {
            Strand& own = *awaiting.promise().strand;
            own.suspend(awaiting, "its next turn");
            own.make_ready();
            return;
        }
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

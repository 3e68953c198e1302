// SPDX-License-Identifier: Apache-2.0
// A scope that ends when all tasks that were spawned in it have ended. After `finish` of X10
// (Charles et al., OOPSLA 2005).
#pragma once

#include <corymb/detail/strand.hpp>
#include <corymb/error.hpp>
#include <corymb/export.hpp>
#include <corymb/task.hpp>

#include <coroutine>
#include <exception>
#include <type_traits>
#include <utility>
#include <vector>

namespace corymb {

/// Several tasks have thrown. The code is that of the first one, the text has those of the first
/// few. The ranks are those that any of them names, each once, from the lowest on.
class CORYMB_EXPORT TaskErrors : public Error {
public:
    /// Needs at least one.
    explicit TaskErrors(std::vector<std::exception_ptr> all);
    /// In the order in which they came.
    [[nodiscard]] const std::vector<std::exception_ptr>& all() const noexcept { return all_; }

private:
    std::vector<std::exception_ptr> all_;
};

namespace detail {

/// The only exception, or TaskErrors with all of them, which has no TaskErrors in it. Needs one.
[[noreturn]] CORYMB_EXPORT void throw_all(std::vector<std::exception_ptr> all);

/// What a strand spawns while this lives belongs to it.
class CORYMB_EXPORT FinishScope final : public Scope {
public:
    explicit FinishScope(Strand& own) noexcept
        : strand_(&own), outer_(std::exchange(own.inner, this)) {}
    ~FinishScope() {
        strand_->inner = outer_;
        if (has_untaken()) [[unlikely]] {
            pass_on_untaken();
        }
    }

    /// An exception of the scope's own task.
    void note(const std::exception_ptr& thrown) noexcept { note_thrown(thrown); }

    [[nodiscard]] const Strand* owner() const noexcept override { return strand_; }
    [[nodiscard]] bool is_awaited() const noexcept override { return is_awaited_ && !is_over(); }

    // For co_await: until all have ended. Throws what they have thrown.
    [[nodiscard]] bool await_ready() const noexcept { return is_over(); }
    void await_suspend(std::coroutine_handle<> at) noexcept {
        is_awaited_ = true;
        strand_->suspend(at, "the end of the tasks of a finish");
        if (strand_->is_stopped()) [[unlikely]] {
            strand_->stop(); // Reaches the calls that it has told.
        }
    }
    void await_resume() {
        if (!thrown_.empty()) {
            throw_all(std::exchange(thrown_, {}));
        }
    }

private:
    void note_thrown(const std::exception_ptr& thrown) noexcept override;
    void note_over() noexcept override {
        if (is_awaited_) {
            strand_->make_ready();
        }
    }
    /// Strands that are held longer than this lives: if nobody takes what they have thrown, the
    /// scheduler gets it.
    void pass_on_untaken() noexcept;
    Strand* strand_;
    Scope* outer_;
    bool is_awaited_ = false;
    std::vector<std::exception_ptr> thrown_;
};

} // namespace detail

/// Calls `start()`, which spawns tasks, and returns when all of them have ended, and those that
/// they have spawned in turn. `start` may be a function or give a task, which is awaited. If tasks
/// throw and nobody takes that, the others go on, and in the end `finish` throws the exception, or
/// TaskErrors if there are several. A task that was asked to stop and ends by that has not thrown.
/// A stop reaches the tasks, and `finish` still waits for them.
template <class F>
Task<> finish(F start) {
    detail::FinishScope scope(co_await detail::OwnStrand{});
    std::exception_ptr thrown;
    try {
        if constexpr (std::is_void_v<std::invoke_result_t<F&>>) {
            start();
        } else {
            co_await start();
        }
    } catch (...) {
        thrown = std::current_exception();
    }
    if (thrown != nullptr) {
        scope.note(thrown);
    }
    co_await scope;
}

} // namespace corymb

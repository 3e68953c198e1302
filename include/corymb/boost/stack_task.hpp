// SPDX-License-Identifier: Apache-2.0
// Tasks with a stack of their own: plain functions whose blocking calls suspend the task and not
// the rank. For programs that link Boost.Context (Boost::context); the library itself needs it not.
#pragma once

#include <corymb/detail/stack_run.hpp>
#include <corymb/task.hpp>

#include <boost/context/fiber.hpp>
#include <boost/context/preallocated.hpp>
#include <boost/context/protected_fixedsize_stack.hpp>

#include <cstddef>
#include <exception>
#include <memory>
#include <optional>
#include <type_traits>
#include <utility>

#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#define CORYMB_ADDRESS_SANITIZER 1
#endif
#if __has_feature(thread_sanitizer)
#define CORYMB_THREAD_SANITIZER 1
#endif
#endif
#if defined(__SANITIZE_ADDRESS__) && !defined(CORYMB_ADDRESS_SANITIZER)
#define CORYMB_ADDRESS_SANITIZER 1
#endif
#if defined(__SANITIZE_THREAD__) && !defined(CORYMB_THREAD_SANITIZER)
#define CORYMB_THREAD_SANITIZER 1
#endif
#if defined(CORYMB_ADDRESS_SANITIZER)
#include <sanitizer/common_interface_defs.h>
#endif
#if defined(CORYMB_THREAD_SANITIZER)
#include <sanitizer/tsan_interface.h>
#endif

namespace corymb {

namespace detail {

/// Tells the sanitizers which stack is in use.
class AnnouncedStack {
public:
    explicit AnnouncedStack(const boost::context::stack_context& stack) noexcept {
        static_cast<void>(stack);
#if defined(CORYMB_ADDRESS_SANITIZER)
        bottom_ = static_cast<const char*>(stack.sp) - stack.size;
        bytes_ = stack.size;
#endif
#if defined(CORYMB_THREAD_SANITIZER)
        fiber_ = __tsan_create_fiber(0);
#endif
    }
    AnnouncedStack(const AnnouncedStack&) = delete;
    AnnouncedStack& operator=(const AnnouncedStack&) = delete;
    ~AnnouncedStack() {
#if defined(CORYMB_THREAD_SANITIZER)
        __tsan_destroy_fiber(fiber_);
#endif
    }

    /// Before and after a switch to the stack, on the host's.
    void enter() noexcept {
#if defined(CORYMB_ADDRESS_SANITIZER)
        __sanitizer_start_switch_fiber(&host_fake_, bottom_, bytes_);
#endif
#if defined(CORYMB_THREAD_SANITIZER)
        host_fiber_ = __tsan_get_current_fiber();
        __tsan_switch_to_fiber(fiber_, 0);
#endif
    }
    void come_back() noexcept {
#if defined(CORYMB_ADDRESS_SANITIZER)
        __sanitizer_finish_switch_fiber(host_fake_, nullptr, nullptr);
#endif
    }
    /// After and before such a switch, on the stack. `is_last`: it is not used again.
    void arrive() noexcept {
#if defined(CORYMB_ADDRESS_SANITIZER)
        __sanitizer_finish_switch_fiber(own_fake_, &host_bottom_, &host_bytes_);
#endif
    }
    void leave(bool is_last) noexcept {
        static_cast<void>(is_last);
#if defined(CORYMB_ADDRESS_SANITIZER)
        __sanitizer_start_switch_fiber(is_last ? nullptr : &own_fake_, host_bottom_, host_bytes_);
#endif
#if defined(CORYMB_THREAD_SANITIZER)
        __tsan_switch_to_fiber(host_fiber_, 0);
#endif
    }

private:
#if defined(CORYMB_ADDRESS_SANITIZER)
    const void* bottom_ = nullptr;
    std::size_t bytes_ = 0;
    const void* host_bottom_ = nullptr;
    std::size_t host_bytes_ = 0;
    void* host_fake_ = nullptr;
    void* own_fake_ = nullptr;
#endif
#if defined(CORYMB_THREAD_SANITIZER)
    void* fiber_ = nullptr;
    void* host_fiber_ = nullptr;
#endif
};

/// A function on a stack of `bytes` bytes, behind which a guard page lies.
template <class R, class F>
class FunctionOnStack final : public StackRun {
public:
    FunctionOnStack(F f, std::size_t bytes)
        : FunctionOnStack(std::move(f), boost::context::protected_fixedsize_stack(bytes)) {}
    ~FunctionOnStack() { finish(); }

    /// Once the function has ended: its result, or throws its exception.
    R take() { return outcome_.take(); }

private:
    using Stacks = boost::context::protected_fixedsize_stack;
    using Fiber = boost::context::fiber;

    FunctionOnStack(F f, Stacks stacks)
        : FunctionOnStack(std::move(f), stacks, stacks.allocate()) {}
    FunctionOnStack(F f, Stacks stacks, boost::context::stack_context stack)
        : f_(std::move(f)), announced_(stack),
          other_(std::allocator_arg, boost::context::preallocated(stack.sp, stack.size, stack),
                 stacks, [this](Fiber&& host) { return run(std::move(host)); }) {}

    Fiber run(Fiber&& host) noexcept {
        announced_.arrive();
        other_ = std::move(host);
        try {
            if constexpr (std::is_void_v<R>) {
                f_();
                outcome_.set_value(std::monostate());
            } else {
                outcome_.set_value(f_());
            }
        } catch (...) {
            outcome_.set_thrown(std::current_exception());
        }
        is_over_ = true;
        announced_.leave(true);
        return std::move(other_);
    }
    void switch_in() noexcept override {
        announced_.enter();
        Fiber own = std::exchange(other_, Fiber());
        Fiber back = std::move(own).resume();
        announced_.come_back();
        if (!is_over_) {
            other_ = std::move(back);
        }
    }
    void switch_out() noexcept override {
        announced_.leave(false);
        Fiber host = std::exchange(other_, Fiber());
        Fiber back = std::move(host).resume();
        announced_.arrive();
        other_ = std::move(back);
    }

    F f_;
    TaskOutcome<R> outcome_;
    AnnouncedStack announced_;
    Fiber other_; ///< The stack that does not run.
};

template <class R, class F>
Task<R> run_on_stack(F f, std::size_t bytes) {
    FunctionOnStack<R, F> function(std::move(f), bytes);
    while (!function.go_on()) {
        if (function.awaited() != nullptr) {
            co_await std::move(*function.awaited());
        } else {
            co_await StackRun::CallEnd{&function};
        }
    }
    if constexpr (std::is_void_v<R>) {
        function.take();
    } else {
        co_return function.take();
    }
}

} // namespace detail

/// Enough for the first call of a collective, which may plan. Only pages that are used cost memory.
inline constexpr std::size_t stack_bytes_usual = std::size_t{256} << 10U;

/// A task that runs f() on a stack of its own, of `bytes` bytes with a guard page. Where `f` waits
/// in a blocking call of the library, such as Team::barrier, Request::wait or Mailbox::wait, the
/// task is suspended, and others of its rank go on. `f` may be any function, and call any.
///
/// While `f` is in a call of a handle, other tasks cannot use that handle: they get
/// Errc::invalid_argument, as other threads do. Request::wait is in no call meanwhile. A stop does
/// not end a blocking call. Waits in which ranks join a team hold up the rank. When the scheduler
/// goes before `f` has ended, `f` goes on alone: its blocking calls wait, with their deadlines, and
/// `await` throws. Throws std::bad_alloc if there is no memory for the stack.
template <class F>
[[nodiscard]] auto on_stack(F f, std::size_t bytes = stack_bytes_usual)
    -> Task<std::invoke_result_t<F&>> {
    return detail::run_on_stack<std::invoke_result_t<F&>>(std::move(f), bytes);
}

namespace this_task {

/// In a function that `on_stack` runs: awaits a task, and gives its result or throws its exception.
/// Throws Errc::invalid_argument elsewhere, and Errc::interrupted when the scheduler has gone.
template <class T>
T await(Task<T> task) {
    return detail::StackRun::running().await(std::move(task));
}

} // namespace this_task
} // namespace corymb

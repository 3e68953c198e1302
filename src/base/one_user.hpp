// SPDX-License-Identifier: Apache-2.0
// For handles that one thread uses at a time: records the thread that is in a call, and the process
// of the handle. Every public member function of such a handle enters here first.
#pragma once

#include "base/fork_count.hpp"

#include <atomic>
#include <cstdint>
#include <utility>

namespace corymb {

/// Notices a call that comes while another thread is in one, and any call in a forked child.
///
/// Entering is two loads and a store for the thread that was here last: no read-modify-write, no
/// fence. Another thread takes over with an exchange. Two threads that enter within the same few
/// nanoseconds can both get in, so this protects nothing: it tells a program of its mistake.
class OneUser {
public:
    /// A call; ends with this object. Calls of one thread nest, as from a callback.
    class Call {
    public:
        Call() noexcept = default;
        Call(Call&& other) noexcept : user_(std::exchange(other.user_, nullptr)) {}
        Call& operator=(Call&&) = delete;
        ~Call() {
            if (user_ != nullptr) {
                user_->leave();
            }
        }

    private:
        friend class OneUser;
        explicit Call(OneUser* user) noexcept : user_(user) {}
        OneUser* user_ = nullptr; ///< Null: an outer call of this thread leaves.
    };

    /// `name` of the handle is for errors: "team". It outlives this object.
    explicit OneUser(const char* name) noexcept : name_(name) {}
    OneUser(const OneUser&) = delete;
    OneUser& operator=(const OneUser&) = delete;

    /// Throws Errc::invalid_argument while another thread is in a call, and in a forked child.
    [[nodiscard]] Call enter() {
        const std::uintptr_t own = this_thread();
        const std::uintptr_t seen = state_.load(std::memory_order_relaxed);
        if (seen == own && !is_inherited()) [[likely]] {
            state_.store(own | busy, std::memory_order_relaxed);
            return Call(this);
        }
        return Call(enter_anew(own, seen));
    }
    /// For destructors, which cannot refuse: waits until no other thread is in a call. A handle
    /// that a forked child has inherited must not be used; see `is_inherited`.
    [[nodiscard]] Call enter_when_free() noexcept;
    /// For functions that end a handle and can refuse: as `enter`, but a forked child may drop an
    /// inherited handle.
    [[nodiscard]] Call enter_to_end() { return is_inherited() ? Call() : enter(); }
    /// Throws Errc::invalid_argument in a forked child: for calls that any thread may make.
    void require_own_process() const {
        if (is_inherited()) [[unlikely]] {
            refuse_inherited();
        }
    }

    /// Whether this process was forked since the handle was made.
    [[nodiscard]] bool is_inherited() const noexcept { return forks_ != fork_count(); }
    /// Whether a thread is in a call, this one or another.
    [[nodiscard]] bool is_busy() const noexcept {
        return (state_.load(std::memory_order_relaxed) & busy) != 0;
    }

private:
    friend void use_as(std::uintptr_t stack) noexcept;
    static constexpr std::uintptr_t busy = 1;
    /// Tells a stack that is not the thread's own from it; see `use_as`. Each call of a handle
    /// reads it: with this model that is a load, and no function is called.
    static constinit thread_local std::uintptr_t stack_mark
        __attribute__((tls_model("initial-exec")));

    /// Differs among the stacks of calls that there are; even.
    static std::uintptr_t this_thread() noexcept {
        return reinterpret_cast<std::uintptr_t>(__builtin_thread_pointer()) ^ stack_mark;
    }
    void leave() noexcept { state_.store(this_thread(), std::memory_order_relaxed); }
    /// Null: an outer call of this thread leaves. A pointer, which comes back in a register.
    [[nodiscard]] OneUser* enter_anew(std::uintptr_t own, std::uintptr_t seen);
    [[noreturn]] void refuse_inherited() const;

    std::atomic<std::uintptr_t> state_{0}; ///< The thread that was here last; `busy`: it still is.
    const std::uint32_t forks_ = fork_count();
    const char* const name_;
};

/// Makes what follows on this thread a user of its own, on a stack of its own. 0: the thread itself
/// again. `stack` is even.
inline void use_as(std::uintptr_t stack) noexcept {
    OneUser::stack_mark =
        stack == 0 ? 0 : stack ^ reinterpret_cast<std::uintptr_t>(__builtin_thread_pointer());
}

/// Throws Errc::invalid_argument: "this NAME is empty: WHY".
[[noreturn]] void refuse_empty(const char* name, const char* why);

namespace detail {

/// A call of a handle that holds a State with a OneUser `user`; stands for a pointer to it.
template <class State>
class InCall {
public:
    explicit InCall(State& state) : call_(state.user.enter()), state_(&state) {}
    [[nodiscard]] State* operator->() const noexcept { return state_; }
    [[nodiscard]] State& operator*() const noexcept { return *state_; }

private:
    OneUser::Call call_;
    State* state_;
};

/// Deletes such a State once no other thread is in a call.
template <class State>
void end_handle(State* state) noexcept {
    if (!state->user.is_inherited()) {
        static_cast<void>(state->user.enter_when_free());
    }
    delete state;
}

} // namespace detail

} // namespace corymb

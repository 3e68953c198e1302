// SPDX-License-Identifier: Apache-2.0
// What the calling side of a remote call is made of: the waits for an answer and for room.
#pragma once

#include <corymb/detail/remote_codec.hpp>
#include <corymb/detail/remote_function.hpp>
#include <corymb/detail/remote_id.hpp>
#include <corymb/detail/strand.hpp>
#include <corymb/export.hpp>
#include <corymb/rank.hpp>
#include <corymb/task.hpp>

#include <coroutine>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <optional>
#include <span>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>

namespace corymb::detail {

/// The place in this process where a rank's calls are made. Throws Errc::invalid_argument where the
/// strand's scheduler is no rank's of a group.
[[nodiscard]] CORYMB_EXPORT RemoteState& remote_state(const Strand& of);

/// Learns of the end of one call.
class AnswerTaker {
public:
    virtual void settle(RemoteReader& answer) noexcept = 0;
    virtual void settle(std::exception_ptr failure) noexcept = 0;

protected:
    ~AnswerTaker() = default;
};

/// What the waits of all calls have. A call of the own rank sends nothing: a function runs at once,
/// a task is served as one of another rank is.
class CORYMB_EXPORT CallSuspension : public Suspension {
public:
    [[nodiscard]] Rank to() const noexcept { return to_; }

protected:
    explicit CallSuspension(Rank to) noexcept : to_(to) {}
    ~CallSuspension() = default;
    /// Before the call. Whether it is one of the own rank, or of an object there. Throws
    /// Errc::interrupted, and Errc::invalid_argument for an object that is no rank's of the group.
    /// `is_of_chain`: the caller's end waits for that of the call.
    [[nodiscard]] bool is_own(Strand& own, const RemoteId* object, bool is_of_chain = true);
    /// Whether the task suspends after a call of the own rank: now and then it does, so that a loop
    /// of such calls leaves the others their turns.
    [[nodiscard]] bool pause(Strand& own, std::coroutine_handle<> at) const noexcept;
    [[nodiscard]] RemoteState& state() const noexcept { return *state_; }
    /// The one of `is_own`.
    [[nodiscard]] const RemoteId* object() const noexcept { return object_; }
    void keep(std::exception_ptr failure) noexcept { failure_ = std::move(failure); }
    /// As an exception of another rank would arrive.
    void keep_thrown_here() noexcept;
    [[nodiscard]] const std::exception_ptr& failure() const noexcept { return failure_; }
    /// Throws Errc::interrupted, or what the call has failed with.
    void require_good(const char* waited_for) const;

    std::uint32_t call_ = Reply::nobody;

private:
    Rank to_;
    RemoteState* state_ = nullptr;
    const RemoteId* object_ = nullptr;
    std::exception_ptr failure_;
};

/// Waits for the answer of one call.
class CORYMB_EXPORT AnswerAwait : public CallSuspension, public AnswerTaker {
public:
    // Inline: the thunks to the second base are made where they are used, and not exported.
    /// The answer is there. `take` may throw, which is the outcome then.
    void settle(RemoteReader& answer) noexcept override {
        try {
            take(answer);
        } catch (...) {
            keep(std::current_exception());
        }
        wake();
    }
    void settle(std::exception_ptr failure) noexcept override {
        keep(std::move(failure));
        wake();
    }
    [[nodiscard]] Awaited awaited() const noexcept override;

protected:
    explicit AnswerAwait(Rank to) noexcept : CallSuspension(to) {}
    ~AnswerAwait();
    /// Sends the request and suspends. Throws as Mailbox::send.
    void start(Strand& own, std::coroutine_handle<> at, const RemoteFunction& function,
               std::size_t bytes, const Reply::Writes& write);
    /// A task of the own rank is about to be served. Throws as BegunCalls::add.
    [[nodiscard]] Reply start_here();
    /// It is served; suspends.
    void wait_here(Strand& own, std::coroutine_handle<> at) noexcept;
    /// It was not.
    void fail_here() noexcept;
    /// As `start`, for a function that is found by its name.
    void start_named(Strand& own, std::coroutine_handle<> at, std::string_view name,
                     std::span<const std::byte> argument);
    void require_answer() const;
    /// Suspends until `arrive`, without a request. Throws if the rank has gone.
    void expect(Strand& own, std::coroutine_handle<> at);
    void arrive() noexcept;
    /// Ends a wait that `expect` has begun.
    void unexpect() noexcept;

private:
    virtual void take(RemoteReader& answer) = 0;
    void withdraw() noexcept override;
};

/// Waits for what a rank sends of its own accord. Fails when that rank has gone.
class CORYMB_EXPORT PeerWait final : public AnswerAwait {
public:
    explicit PeerWait(Rank from) noexcept : AnswerAwait(from) {}
    ~PeerWait() {
        if (is_waiting()) {
            unexpect();
        }
    }
    static constexpr bool await_ready() noexcept { return false; }
    template <TaskPromiseOf P>
    void await_suspend(std::coroutine_handle<P> awaiting) {
        expect(*awaiting.promise().strand, awaiting);
    }
    void await_resume() const { require_answer(); }
    /// It is there.
    using AnswerAwait::arrive;
    [[nodiscard]] Awaited awaited() const noexcept override { return {}; } ///< No call.

private:
    void take(RemoteReader& /*answer*/) override {}
    void withdraw() noexcept override { unexpect(); }
};

/// Waits until a message is on its way.
class CORYMB_EXPORT PostAwait : public CallSuspension {
public:
    /// It is on its way, or `failure` says why not.
    void settle(std::exception_ptr failure) noexcept;

protected:
    /// `is_counted`: the scope of the strand waits for the end of the call.
    PostAwait(Rank to, bool is_counted) noexcept : CallSuspension(to), is_counted_(is_counted) {}
    ~PostAwait();
    [[nodiscard]] bool is_counted() const noexcept { return is_counted_; }
    /// Sends the request; whether there was room.
    [[nodiscard]] bool start(Strand& own, const RemoteFunction& function, std::size_t bytes,
                             const Reply::Writes& write);
    void suspend(Strand& own, std::coroutine_handle<> at);
    /// As AnswerAwait::start_here.
    [[nodiscard]] Reply start_here(Strand& own);
    /// A call of the own rank has thrown at once: the scope gets the exception, if it counts.
    void fail_here(Strand& own) noexcept;
    void require_sent() const;

private:
    void withdraw() noexcept override;
    bool is_counted_;
};

/// The object of a call; null for a call of a rank.
template <class What>
const RemoteId* object_of(const What& what) noexcept {
    if constexpr (std::is_same_v<typename What::Head, CalledObject>) {
        return &what.head().id;
    } else {
        return nullptr;
    }
}

template <class What>
class CallAwait final : public AnswerAwait {
    using R = typename What::Value;

public:
    CallAwait(Rank to, What what) : AnswerAwait(to), what_(std::move(what)) {}
    static constexpr bool await_ready() noexcept { return false; }
    template <TaskPromiseOf P>
    bool await_suspend(std::coroutine_handle<P> awaiting) {
        Strand& own = *awaiting.promise().strand;
        if (is_own(own, object_of(what_))) {
            return call_here(own, awaiting);
        }
        start(own, awaiting, What::function(), what_.size(), Reply::Writes(what_));
        return true;
    }
    R await_resume() {
        require_answer();
        if constexpr (!std::is_void_v<R>) {
            return std::move(*result_);
        }
    }

private:
    bool call_here(Strand& own, std::coroutine_handle<> at) {
        bool is_served = false;
        try {
            const OutsideOfTasks here(own);
            auto run = what_.prepare_here(state());
            if (What::is_of_task || must_wait(run)) {
                what_.serve_here(start_here(), std::move(run));
                is_served = true;
            } else if constexpr (!What::is_of_task) {
                if constexpr (std::is_void_v<R>) {
                    what_.run_here(run);
                } else {
                    result_.emplace(what_.run_here(run));
                }
            }
        } catch (...) {
            fail_here();
        }
        if (is_served) {
            wait_here(own, at);
        }
        return is_served || pause(own, at);
    }
    void take(RemoteReader& answer) override {
        if constexpr (!std::is_void_v<R>) {
            result_.emplace(RemoteCodec<R>::read(answer));
        }
    }
    What what_;
    std::optional<std::conditional_t<std::is_void_v<R>, bool, R>> result_;
};

template <class What>
class TellAwait final : public PostAwait {
public:
    TellAwait(Rank to, What what, bool is_counted)
        : PostAwait(to, is_counted), what_(std::move(what)) {}
    static constexpr bool await_ready() noexcept { return false; }
    template <TaskPromiseOf P>
    bool await_suspend(std::coroutine_handle<P> awaiting) {
        Strand& own = *awaiting.promise().strand;
        if (is_own(own, object_of(what_), is_counted())) {
            return tell_here(own, awaiting);
        }
        if (start(own, What::function(), what_.size(), Reply::Writes(what_))) {
            return false;
        }
        suspend(own, awaiting);
        return true;
    }
    void await_resume() const { require_sent(); }

private:
    bool tell_here(Strand& own, std::coroutine_handle<> at) {
        try {
            const OutsideOfTasks here(own);
            auto run = what_.prepare_here(state());
            if (What::is_of_task || must_wait(run)) {
                what_.serve_here(start_here(own), std::move(run));
            } else if constexpr (!What::is_of_task) {
                static_cast<void>(what_.run_here(run));
            }
        } catch (...) {
            fail_here(own);
        }
        return pause(own, at);
    }
    What what_;
};

} // namespace corymb::detail

// SPDX-License-Identifier: Apache-2.0
// What the calling side of a remote call is made of: the waits for an answer and for room.
#pragma once

#include <corymb/detail/remote_codec.hpp>
#include <corymb/detail/remote_function.hpp>
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

/// Waits for the answer of one call.
class CORYMB_EXPORT AnswerAwait : public Suspension, public AnswerTaker {
public:
    [[nodiscard]] Rank to() const noexcept { return to_; }
    // Inline: the thunks to the second base are made where they are used, and not exported.
    /// The answer is there. `take` may throw, which is the outcome then.
    void settle(RemoteReader& answer) noexcept override {
        try {
            take(answer);
        } catch (...) {
            failure_ = std::current_exception();
        }
        wake();
    }
    void settle(std::exception_ptr failure) noexcept override {
        failure_ = std::move(failure);
        wake();
    }

protected:
    explicit AnswerAwait(Rank to) noexcept : to_(to) {}
    ~AnswerAwait();
    /// Sends the request and suspends. Throws as Mailbox::send, and Errc::interrupted.
    void start(Strand& own, std::coroutine_handle<> at, const RemoteFunction& function,
               std::size_t bytes, const Reply::Writes& write);
    /// As `start`, for a function that is found by its name.
    void start_named(Strand& own, std::coroutine_handle<> at, std::string_view name,
                     std::span<const std::byte> argument);
    /// Throws the failure, if the call has failed.
    void require_answer() const;
    /// Suspends until `arrive`, without a request. Throws if the rank has gone.
    void expect(Strand& own, std::coroutine_handle<> at);
    void arrive() noexcept;
    /// Ends a wait that `expect` has begun.
    void unexpect() noexcept;

private:
    virtual void take(RemoteReader& answer) = 0;
    void withdraw() noexcept override;
    Rank to_;
    std::uint32_t call_ = Reply::nobody;
    RemoteState* state_ = nullptr;
    std::exception_ptr failure_;
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

private:
    void take(RemoteReader& /*answer*/) override {}
    void withdraw() noexcept override { unexpect(); }
};

/// Waits until a message is on its way.
class CORYMB_EXPORT PostAwait : public Suspension {
public:
    /// It is on its way, or `failure` says why not.
    void settle(std::exception_ptr failure) noexcept;

protected:
    explicit PostAwait(Rank to) noexcept : to_(to) {}
    ~PostAwait();
    /// Sends the request; whether there was room. `is_counted`: the scope of the strand waits for
    /// its end.
    [[nodiscard]] bool start(Strand& own, const RemoteFunction& function, std::size_t bytes,
                             const Reply::Writes& write, bool is_counted);
    void suspend(Strand& own, std::coroutine_handle<> at);
    void require_sent() const;

private:
    void withdraw() noexcept override;
    Rank to_;
    RemoteState* state_ = nullptr;
    std::uint32_t call_ = Reply::nobody;
    std::exception_ptr failure_;
};

/// What is called: the thunk, and the values that travel.
template <class Thunk, class... Values>
class Packed {
public:
    explicit Packed(Values... values) : values_(std::move(values)...) {}
    [[nodiscard]] static const RemoteFunction& function() noexcept {
        return remote_function<Thunk>;
    }
    [[nodiscard]] std::size_t size() const {
        return std::apply([](const Values&... each) { return size_of_all(each...); }, values_);
    }
    void operator()(RemoteWriter& to) const {
        std::apply([&to](const Values&... each) { write_all(to, each...); }, values_);
    }

private:
    std::tuple<Values...> values_;
};

template <class R, class What>
class CallAwait final : public AnswerAwait {
public:
    CallAwait(Rank to, What what) : AnswerAwait(to), what_(std::move(what)) {}
    static constexpr bool await_ready() noexcept { return false; }
    template <TaskPromiseOf P>
    void await_suspend(std::coroutine_handle<P> awaiting) {
        start(*awaiting.promise().strand, awaiting, What::function(), what_.size(),
              Reply::Writes(what_));
    }
    R await_resume() {
        require_answer();
        if constexpr (!std::is_void_v<R>) {
            return std::move(*result_);
        }
    }

private:
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
        : PostAwait(to), what_(std::move(what)), is_counted_(is_counted) {}
    static constexpr bool await_ready() noexcept { return false; }
    template <TaskPromiseOf P>
    bool await_suspend(std::coroutine_handle<P> awaiting) {
        Strand& own = *awaiting.promise().strand;
        if (start(own, What::function(), what_.size(), Reply::Writes(what_), is_counted_)) {
            return false;
        }
        suspend(own, awaiting);
        return true;
    }
    void await_resume() const { require_sent(); }

private:
    What what_;
    bool is_counted_;
};

} // namespace corymb::detail

// SPDX-License-Identifier: Apache-2.0
// Calls by name: bytes go to a rank, and bytes come back. They work between different programs and
// languages. docs/reference/remote.md says how they are used.
#pragma once

#include <corymb/detail/remote_call.hpp>
#include <corymb/export.hpp>
#include <corymb/rank.hpp>
#include <corymb/remote.hpp>

#include <chrono>
#include <coroutine>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <limits>
#include <memory>
#include <span>
#include <stop_token>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace corymb {

namespace detail {
struct PendingReply; // src/remote/
struct PendingCall;
/// The length of a name travels in one byte.
inline constexpr std::size_t name_bytes_most = std::numeric_limits<std::uint8_t>::max();
/// Throws what a call of that rank would throw before it begins.
CORYMB_EXPORT void require_callable(RemoteRank& own, Rank to);
} // namespace detail

/// Bytes that lie in several places and travel as one row.
class ByteParts {
public:
    using Part = std::span<const std::byte>;
    ByteParts() noexcept = default; ///< No bytes.
    ByteParts(Part one) noexcept : one_(one) {}
    explicit ByteParts(std::span<const Part> several) noexcept
        : several_(several), is_one_(false) {}
    [[nodiscard]] const Part* begin() const noexcept { return is_one_ ? &one_ : several_.data(); }
    [[nodiscard]] const Part* end() const noexcept {
        return begin() + (is_one_ ? 1 : several_.size());
    }

private:
    Part one_;
    std::span<const Part> several_;
    bool is_one_ = true;
};

/// Whom to answer, later than in the handler. Movable; for the thread of its rank. A call that is
/// never answered fails when this goes away.
class CORYMB_EXPORT NamedReply {
public:
    NamedReply() noexcept; ///< To nobody.
    NamedReply(NamedReply&& other) noexcept;
    NamedReply& operator=(NamedReply&& other) noexcept;
    ~NamedReply();

    /// Whether there is somebody to be answered.
    [[nodiscard]] bool valid() const noexcept { return pending_ != nullptr; }
    /// Sends the answer; once. Nothing happens if the caller has gone. Throws
    /// Errc::invalid_argument for an answered call, and if this rank has left its group.
    void answer(const ByteParts& result);
    /// The caller gets the exception as of `at`.
    void fail(const std::exception_ptr& thrown);
    /// Asks to stop when the caller waits no more, or its process has ended.
    [[nodiscard]] std::stop_token stop_token() const;

private:
    friend class NamedRequest;
    explicit NamedReply(std::unique_ptr<detail::PendingReply> pending) noexcept;
    std::unique_ptr<detail::PendingReply> pending_;
};

/// A call by name, as its handler gets it. If the handler returns without one of `answer`, `fail`
/// and `later`, the answer is empty.
class CORYMB_EXPORT NamedRequest {
public:
    NamedRequest(const detail::Reply& reply, std::string_view name,
                 std::span<const std::byte> argument) noexcept
        : reply_(reply), name_(name), argument_(argument) {}
    NamedRequest(const NamedRequest&) = delete;
    NamedRequest& operator=(const NamedRequest&) = delete;

    [[nodiscard]] Rank from() const noexcept { return reply_.to(); }
    [[nodiscard]] std::string_view name() const noexcept { return name_; }
    /// Gone when the handler has returned.
    [[nodiscard]] std::span<const std::byte> argument() const noexcept { return argument_; }
    /// Whether the caller waits for an answer. If not, answers go nowhere.
    [[nodiscard]] bool is_wanted() const noexcept { return reply_.is_wanted(); }

    // Each throws Errc::invalid_argument after one of them.
    void answer(const ByteParts& result);
    void fail(const std::exception_ptr& thrown);
    /// For an answer after the handler has returned.
    [[nodiscard]] NamedReply later();

    [[nodiscard]] bool is_over() const noexcept { return is_over_; }

private:
    void end();
    detail::Reply reply_;
    std::string_view name_;
    std::span<const std::byte> argument_;
    bool is_over_ = false;
};

/// Runs where the call arrives, in the midst of what serves calls. It must be short and must not
/// wait, but may begin calls, spawn tasks of the rank's scheduler, and answer later. The caller
/// gets what it throws.
using NamedHandler = std::function<void(NamedRequest& request)>;

/// Calls of `name` run `handler` on this rank from here on. Offer all names before calls of others
/// are served. Throws Errc::invalid_argument for an empty name, one that is longer than 255 bytes,
/// and one that is offered already.
CORYMB_EXPORT void offer_function(RemoteRank& own, std::string name, NamedHandler handler);
/// Throws Errc::unknown_name if it is not offered. Calls that are under way go on.
CORYMB_EXPORT void withdraw_function(RemoteRank& own, std::string_view name);

/// A call by name that was begun outside of tasks. Movable; for the thread of its rank. If it goes
/// away before its end, the function that was called is asked to stop.
class CORYMB_EXPORT NamedCall {
public:
    NamedCall() noexcept; ///< No call.
    NamedCall(NamedCall&& other) noexcept;
    NamedCall& operator=(NamedCall&& other) noexcept;
    ~NamedCall();

    /// Whether there is an answer to wait for, or to take.
    [[nodiscard]] bool valid() const noexcept { return pending_ != nullptr; }
    /// Whether `wait` would return, or throw, at once. Looks at nothing.
    [[nodiscard]] bool is_over() const noexcept;
    /// As `is_over`, after `own.scheduler().poll()`.
    [[nodiscard]] bool test();
    /// The answer, once; serves the calls of others and runs the rank's tasks meanwhile. Throws the
    /// exception of the call as `at` does; Errc::unknown_name naming the rank, if it does not offer
    /// the function; Errc::timeout after `limit` (0: none), and may be called again then;
    /// Errc::invalid_argument in a task or handler, and if this rank has left the group.
    std::vector<std::byte> wait(std::chrono::nanoseconds limit = std::chrono::nanoseconds{0});
    /// Calls `f` when the call is over, in the midst of what serves calls. It must be short.
    void then(std::function<void()> f);

private:
    friend CORYMB_EXPORT NamedCall begin_named(RemoteRank& own, Rank to, std::string_view name,
                                               const ByteParts& argument);
    explicit NamedCall(std::unique_ptr<detail::PendingCall> pending) noexcept;
    std::unique_ptr<detail::PendingCall> pending_;
};

/// Calls a function that rank `to` offers, and which may be this rank. Never waits: what finds no
/// room is sent when there is some. Throws Errc::invalid_argument for a rank or name that cannot
/// be, Errc::team_broken for a rank that has left or whose process has ended.
[[nodiscard]] CORYMB_EXPORT NamedCall begin_named(RemoteRank& own, Rank to, std::string_view name,
                                                  const ByteParts& argument);
/// As `begin_named`, but nobody learns of the end: no answer is sent.
CORYMB_EXPORT void post_named(RemoteRank& own, Rank to, std::string_view name,
                              const ByteParts& argument);

/// Outside of tasks: serves the calls of others and runs the rank's tasks until `done()`, which is
/// asked now and then, or until `limit` has passed, and is then false. Throws as
/// Scheduler::poll.
CORYMB_EXPORT bool serve_until(RemoteRank& own, const std::function<bool()>& done,
                               std::chrono::nanoseconds limit);
/// For event loops, before they sleep: as serve_until, for a moment in which what comes next may
/// come. To sleep and to be woken by Scheduler::descriptor takes longer.
CORYMB_EXPORT bool serve_briefly(RemoteRank& own, const std::function<bool()>& done);

namespace detail {

class CORYMB_EXPORT NamedAwait final : public AnswerAwait {
public:
    NamedAwait(Rank to, std::string_view name, std::span<const std::byte> argument) noexcept
        : AnswerAwait(to), name_(name), argument_(argument) {}
    static constexpr bool await_ready() noexcept { return false; }
    template <TaskPromiseOf P>
    void await_suspend(std::coroutine_handle<P> awaiting) {
        start_named(*awaiting.promise().strand, awaiting, name_, argument_);
    }
    std::vector<std::byte> await_resume() {
        require_answer();
        return std::move(answer_);
    }

private:
    void take(RemoteReader& answer) override;
    std::string_view name_;
    std::span<const std::byte> argument_;
    std::vector<std::byte> answer_;
};

} // namespace detail

/// For co_await in a task of a RemoteRank: calls a function by name and gives its answer. Name and
/// argument must last until the await begins. Throws as `at`, and Errc::unknown_name naming the
/// rank, if it does not offer the function.
[[nodiscard]] inline detail::NamedAwait call_named(Rank to, std::string_view name,
                                                   std::span<const std::byte> argument) {
    return {to, name, argument};
}

} // namespace corymb

// SPDX-License-Identifier: Apache-2.0
// Operations that go on while the caller does something else: started by Team::ibarrier and
// its like, or made once by Team::barrier_init and its like and started many times.
#pragma once

#include <corymb/error.hpp>
#include <corymb/export.hpp>

#include <coroutine>
#include <cstddef>
#include <limits>
#include <span>

namespace corymb {

namespace detail {
struct Operation;   // src/team/driver.hpp
struct Untyped;     // detail/untyped.hpp
class RequestAwait; // task.hpp
} // namespace detail

/// A rank's handle on an operation under way. Movable, not copyable; a team and its requests are
/// used by one thread at a time.
///
/// The buffers belong to the operation until it is complete. It makes progress in every call of the
/// library on its team, in this rank and in others; nothing runs in between. Any number may be
/// outstanding, and they may be completed in any order.
///
/// An operation is completed once: by `wait`, by a `test` that returns true, or by `co_await`.
/// After that the request is empty, or, when it is persistent, ready to be started again. All three
/// throw the errors of the blocking call (timeout, mismatch, team_broken), and
/// Errc::invalid_argument when there is nothing to complete.
class CORYMB_EXPORT Request {
public:
    Request() noexcept = default;
    Request(Request&& other) noexcept;
    /// Lets go of its own operation first, as the destructor does.
    Request& operator=(Request&& other) noexcept;
    Request(const Request&) = delete;
    Request& operator=(const Request&) = delete;
    /// Waits for the operation, so that the buffers can go; an error is then not told again, the
    /// team is broken. While an exception unwinds the stack it breaks the team instead of waiting.
    ~Request();

    /// Whether there is an operation: not yet completed, or persistent.
    [[nodiscard]] bool valid() const noexcept { return operation_ != nullptr; }
    /// Whether the request can be started again. False for an empty request.
    [[nodiscard]] bool is_persistent() const noexcept;
    /// Whether the request has been started and not been completed.
    [[nodiscard]] bool is_active() const noexcept;

    /// Looks whether the operation is done, and goes on with all of the team's as far as they can;
    /// where more than 16 persistent ones are under way, with all of them once in a round of tests.
    /// Bounded whatever other ranks do: at most one look that fails for each lane of the team, and
    /// a fixed number of steps.
    [[nodiscard]] bool test();
    /// Returns when the operation is done. Waits as a blocking call does, with its deadline.
    void wait();
    /// Takes back a message between two ranks that has not begun: a receive whose message has not
    /// come, or a send that waits for others to the same rank. True: nothing was or will be moved,
    /// the buffer is free, and the request is as after its completion. The next receive gets the
    /// message that this one would have got. False: it is too late, complete it as usual. Bounded
    /// as `test`. Throws Errc::invalid_argument for a collective, which no rank can leave alone,
    /// and when there is nothing to complete; otherwise as `test`.
    [[nodiscard]] bool cancel();
    /// Persistent requests: starts the operation once more. Bounded as `test`. Throws
    /// Errc::invalid_argument for other requests and when it is active already.
    void start();

    // For co_await, in a coroutine of any type. It is resumed by Team::progress() or
    // Team::complete_all() of this rank once the operation is done.
    [[nodiscard]] bool await_ready();
    void await_suspend(std::coroutine_handle<> coroutine);
    void await_resume();

private:
    friend class Team;
    friend struct detail::Untyped;
    friend class detail::RequestAwait;
    friend CORYMB_EXPORT std::size_t wait_any(std::span<Request> requests);
    explicit Request(detail::Operation* operation) noexcept : operation_(operation) {}
    detail::Operation* operation_ = nullptr;
};

/// The index from wait_any when no request is active.
inline constexpr std::size_t no_request = std::numeric_limits<std::size_t>::max();

/// Waits for every active request; the others are left alone. They belong to one team. On an error
/// it throws at once; requests that are still active then fail too when they are waited for.
CORYMB_EXPORT void wait_all(std::span<Request> requests);
/// Waits until one of the active requests, which belong to one team, is done and completes it.
/// Returns its index, or `no_request` when none is active.
[[nodiscard]] CORYMB_EXPORT std::size_t wait_any(std::span<Request> requests);
/// Starts persistent requests in their order.
CORYMB_EXPORT void start_all(std::span<Request> requests);

} // namespace corymb

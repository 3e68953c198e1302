// SPDX-License-Identifier: Apache-2.0
// Requests between the members of a group of mailboxes: a handler of the receiver runs, and its
// answer comes back. Upon them pointers to memory that another rank offers. After TACO (Nolte,
// Ishikawa, Sato, 2001).
#pragma once

#include <corymb/error.hpp>
#include <corymb/export.hpp>
#include <corymb/mailbox.hpp>
#include <corymb/plain_data.hpp>

#include <chrono>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace corymb {

namespace detail {
struct ActiveState;

/// Throws Errc::mismatch.
template <class T>
T value_of(Rank from, std::span<const std::byte> bytes) {
    static_assert(moves_as_bytes<T>());
    if (bytes.size() != sizeof(T)) {
        throw_wrong_length(from, bytes.size(), sizeof(T));
    }
    T value;
    std::memcpy(&value, bytes.data(), sizeof value);
    return value;
}
/// Copies an answer; returns its length. Throws Errc::invalid_argument when it is too long.
CORYMB_EXPORT std::size_t put_answer(std::span<std::byte> answer, const void* data,
                                     std::size_t bytes);

/// The answer is the result of `run`, or empty.
template <class Run>
std::size_t answer_with(std::span<std::byte> answer, const Run& run) {
    using Result = std::invoke_result_t<Run>;
    if constexpr (std::is_void_v<Result>) {
        run();
        return 0;
    } else {
        static_assert(moves_as_bytes<Result>());
        const Result result = run();
        return put_answer(answer, &result, sizeof result);
    }
}
} // namespace detail

/// Bytes that an active message has beside its argument or answer, out of
/// MailboxOptions::message_bytes.
inline constexpr std::size_t active_header_bytes = 16;
/// Handlers have numbers below.
inline constexpr std::uint16_t active_handlers_max = 0xff00;

/// A place in memory that a rank has offered. Its value is equal on all ranks, also of other
/// processes.
struct GlobalAddress {
    Rank owner = -1; ///< -1: null.
    std::uint32_t region = 0;
    std::uint64_t offset = 0; ///< Bytes.
    friend auto operator<=>(const GlobalAddress&, const GlobalAddress&) = default;
};

namespace detail {
template <class A>
struct ObjectRequest {
    static_assert(moves_as_bytes<A>());
    GlobalAddress at;
    A argument;
};
} // namespace detail

/// A pointer to a T at such a place. May be sent in messages. Two pointers are equal when they
/// point to one place; the order goes by owner, region and element, and is total.
template <class T>
struct GlobalPointer {
    static_assert(detail::moves_as_bytes<T>());
    GlobalAddress address;

    explicit operator bool() const noexcept { return address.owner >= 0; }
    /// The element `by` further on. Its owner checks whether there is one.
    friend GlobalPointer operator+(GlobalPointer from, std::int64_t by) noexcept {
        from.address.offset += static_cast<std::uint64_t>(by) * sizeof(T);
        return from;
    }
    friend auto operator<=>(const GlobalPointer&, const GlobalPointer&) = default;
};

/// A request, for the thread that made it. May be thrown away: the handler still runs.
class CORYMB_EXPORT ActiveCall {
public:
    ActiveCall() noexcept = default;
    ActiveCall(ActiveCall&& other) noexcept;
    ActiveCall& operator=(ActiveCall&& other) noexcept;
    ~ActiveCall();

    /// Whether `wait` would return, or throw, at once. Polls; never waits.
    [[nodiscard]] bool test();
    /// Whether `wait` has given the answer, or thrown the failure of the call. Looks at nothing.
    [[nodiscard]] bool is_taken() const noexcept;
    /// The answer, once; serves others' requests meanwhile. Throws Errc::timeout with the rank
    /// after `limit` (0: the deadline of ActiveMessages), and may be called again then;
    /// Errc::invalid_argument with the rank when it has closed its mailbox without an answer;
    /// Errc::team_broken with the rank when its process has ended. If the handler threw an Error,
    /// throws one with its code, otherwise std::runtime_error; both name the rank, with as much of
    /// the text as an answer holds.
    std::vector<std::byte> wait(std::chrono::nanoseconds limit = std::chrono::nanoseconds{0});
    /// The answer as a T. Throws Errc::mismatch for an answer that is not as long as a T.
    template <class T>
    T value(std::chrono::nanoseconds limit = std::chrono::nanoseconds{0}) {
        const Rank from = to_;
        return detail::value_of<T>(from, wait(limit));
    }

private:
    friend class ActiveMessages;
    std::shared_ptr<detail::ActiveState> state_;
    std::uint64_t number_ = 0;
    Rank to_ = -1;
};

/// The requests and handlers of one member, upon its mailbox, which nothing else may use. One
/// thread at a time. Requests of one rank to one other are served in their order. Handlers run in
/// `poll`, `test`, `wait` and similar functions of the rank that they were sent to. They may begin
/// calls; they must not poll or wait (Errc::invalid_argument), nor end this object, and should be
/// short.
class CORYMB_EXPORT ActiveMessages {
public:
    /// Gets the argument, writes the answer, returns its length.
    using Handler = std::function<std::size_t(Rank from, std::span<const std::byte> argument,
                                              std::span<std::byte> answer)>;

    /// `deadline`: longest wait without a limit. Throws Errc::invalid_argument for a closed
    /// mailbox, or one whose messages are no longer than `active_header_bytes`.
    explicit ActiveMessages(Mailbox box,
                            std::chrono::nanoseconds deadline = std::chrono::minutes(1));
    ActiveMessages(ActiveMessages&&) noexcept = default;
    ActiveMessages& operator=(ActiveMessages&& other) noexcept;
    /// Closes the mailbox. Calls that are under way end with Errc::invalid_argument.
    ~ActiveMessages();

    [[nodiscard]] Rank rank() const noexcept;
    [[nodiscard]] int size() const noexcept;
    /// Longest argument, and longest answer.
    [[nodiscard]] std::size_t bytes_max() const noexcept;
    /// Longest value of `put`; `compare_exchange` takes values of at most half of it.
    [[nodiscard]] std::size_t put_bytes_max() const noexcept;

    /// Runs `handler` here for requests with this number. All ranks must mean one function by a
    /// number, because functions have different addresses in different processes. Replaces an
    /// earlier handler.
    void on(std::uint16_t number, Handler handler);
    /// As `on`, with f(Rank from, const A& argument), whose result, if any, is the answer.
    template <class A, class F>
    void on_value(std::uint16_t number, F f) {
        on(number, [f = std::move(f)](Rank from, std::span<const std::byte> argument,
                                      std::span<std::byte> answer) mutable {
            const A value = detail::value_of<A>(from, argument);
            return detail::answer_with(answer, [&] { return f(from, value); });
        });
    }
    /// Has the handler of this number run at `to`, which may be this rank. Waits for room, at most
    /// the deadline. Throws as Mailbox::send, and Errc::timeout with the rank. If there is no such
    /// handler, `wait` throws Errc::invalid_argument.
    [[nodiscard]] ActiveCall call(Rank to, std::uint16_t number,
                                  std::span<const std::byte> argument);
    template <class A>
    [[nodiscard]] ActiveCall call_value(Rank to, std::uint16_t number, const A& argument) {
        static_assert(detail::moves_as_bytes<A>());
        return call(to, number, std::as_bytes(std::span(&argument, 1)));
    }
    /// Serves the requests of others; returns their number.
    std::size_t poll();
    /// As `poll`; when there is no request, waits for one, at most `limit`.
    std::size_t serve(std::chrono::nanoseconds limit);

    /// Offers these elements: others may use them through the pointer to the first one, until
    /// `withdraw` or the end of this object. Each access happens while this rank polls, so that
    /// nothing changes meanwhile.
    template <class T, std::size_t N>
    [[nodiscard]] GlobalPointer<T> offer(std::span<T, N> elements) {
        return {offer_bytes(std::as_writable_bytes(elements))};
    }
    /// Ends an offer, before its memory is freed. A rank that uses the pointer afterwards gets an
    /// error. Throws Errc::invalid_argument for memory that is not offered here.
    template <class T>
    void withdraw(GlobalPointer<T> first) {
        withdraw_region(first.address);
    }

    // Accesses at the owner. Throw as ActiveCall::wait, and Errc::invalid_argument for a null
    // pointer, one out of range, or memory that was withdrawn.
    template <class T>
    T get(GlobalPointer<T> from, std::chrono::nanoseconds limit = {}) {
        return begin_get(from.address, sizeof(T)).template value<T>(limit);
    }
    template <class T>
    void put(GlobalPointer<T> to, const std::type_identity_t<T>& value,
             std::chrono::nanoseconds limit = {}) {
        begin_put(to.address, std::as_bytes(std::span(&value, 1))).wait(limit);
    }
    /// Writes `desired` if the bytes equal those of `expected`; returns the value before.
    template <class T>
    T compare_exchange(GlobalPointer<T> at, const std::type_identity_t<T>& expected,
                       const std::type_identity_t<T>& desired,
                       std::chrono::nanoseconds limit = {}) {
        static_assert(std::has_unique_object_representations_v<T>, "bytes are compared");
        const T both[2] = {expected, desired};
        return begin_exchange(at.address, std::as_bytes(std::span(both))).template value<T>(limit);
    }
    /// Accesses to bytes: `to` is filled; `value` has at most `put_bytes_max` bytes; both sides of
    /// an exchange together have at most that, and `was` gets the bytes before.
    void get_bytes(GlobalAddress from, std::span<std::byte> to,
                   std::chrono::nanoseconds limit = {});
    void put_bytes(GlobalAddress to, std::span<const std::byte> value,
                   std::chrono::nanoseconds limit = {});
    void compare_exchange_bytes(GlobalAddress at, std::span<const std::byte> expected,
                                std::span<const std::byte> desired, std::span<std::byte> was,
                                std::chrono::nanoseconds limit = {});
    /// Begins an access to bytes. The answer is the bytes before; empty for a put. `both` holds the
    /// expected bytes, then as many desired ones.
    [[nodiscard]] ActiveCall begin_get(GlobalAddress from, std::size_t bytes);
    [[nodiscard]] ActiveCall begin_put(GlobalAddress to, std::span<const std::byte> value);
    [[nodiscard]] ActiveCall begin_exchange(GlobalAddress at, std::span<const std::byte> both);
    /// As `on_value`, for requests to an object: f(T& object, Rank from, const A& argument).
    template <class T, class A, class F>
    void on_object(std::uint16_t number, F f) {
        on_value<detail::ObjectRequest<A>>(
            number, [this_ = state_.get(),
                     f = std::move(f)](Rank from, const detail::ObjectRequest<A>& request) mutable {
                std::byte* const place = place_of(*this_, request.at, sizeof(T), alignof(T));
                return f(*reinterpret_cast<T*>(place), from, request.argument);
            });
    }
    /// Has such a handler run with the object that `at` points to.
    template <class T, class A>
    [[nodiscard]] ActiveCall call_at(GlobalPointer<T> at, std::uint16_t number, const A& argument) {
        return call_value(at.address.owner, number, detail::ObjectRequest<A>{at.address, argument});
    }

private:
    [[nodiscard]] GlobalAddress offer_bytes(std::span<std::byte> memory);
    void withdraw_region(GlobalAddress first);
    static std::byte* place_of(detail::ActiveState& state, GlobalAddress at, std::size_t bytes,
                               std::size_t alignment);
    std::shared_ptr<detail::ActiveState> state_;
};

} // namespace corymb

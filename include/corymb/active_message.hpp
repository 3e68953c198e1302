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

/// The answer is what `run` returns, or empty.
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

/// What an active message has beside its argument or answer, of MailboxOptions::message_bytes.
inline constexpr std::size_t active_header_bytes = 16;
/// Handlers have numbers below.
inline constexpr std::uint16_t active_handlers_max = 0xff00;

/// A place in memory that a rank has offered. The same on all ranks, also of other processes.
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

/// To a T there. May be sent in messages. Two are equal when they point to the same place; the
/// order is that of owner, region and element, and total.
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

/// A request to who made it, used by the same thread. May be thrown away: the handler still runs.
class CORYMB_EXPORT ActiveCall {
public:
    ActiveCall() noexcept = default;
    ActiveCall(ActiveCall&& other) noexcept;
    ActiveCall& operator=(ActiveCall&& other) noexcept;
    ~ActiveCall();

    /// Whether `wait` would return, or throw, at once. Polls; never waits.
    [[nodiscard]] bool test();
    /// Whether `wait` has given the answer, or thrown what the call has come to. Looks at nothing.
    [[nodiscard]] bool is_taken() const noexcept;
    /// The answer, once; serves others' requests meanwhile. Throws Errc::timeout with the rank
    /// after `limit` (0: the deadline of ActiveMessages), and may be called again then;
    /// Errc::invalid_argument with the rank when it has closed its mailbox without an answer;
    /// Errc::team_broken with the rank when its process has ended. What the handler threw: an Error
    /// with the same code if it was one, else std::runtime_error, with the rank and as much of the
    /// text as an answer holds.
    std::vector<std::byte> wait(std::chrono::nanoseconds limit = std::chrono::nanoseconds{0});
    /// The same as a T. Throws Errc::mismatch for an answer that is not as long as a T.
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

/// One member's requests and handlers, upon its mailbox, which nobody else uses. One thread at a
/// time. Requests of one rank to one other are served in their order; handlers run in `poll`,
/// `test`, `wait` and the like of the rank that they were sent to. They may begin calls; they must
/// not poll or wait (Errc::invalid_argument), nor end this object, and should be short.
class CORYMB_EXPORT ActiveMessages {
public:
    /// Gets the argument, writes the answer, returns its length.
    using Handler = std::function<std::size_t(Rank from, std::span<const std::byte> argument,
                                              std::span<std::byte> answer)>;

    /// `deadline`: longest wait that is not given a limit. Throws Errc::invalid_argument for a
    /// closed mailbox, or one whose messages are no longer than `active_header_bytes`.
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
    /// Longest value of `put`, and half of it that of `compare_exchange`.
    [[nodiscard]] std::size_t put_bytes_max() const noexcept;

    /// Requests with this number run `handler` here. All ranks must mean the same by a number;
    /// functions have different addresses in different processes. Replaces the one before.
    void on(std::uint16_t number, Handler handler);
    /// The same with f(Rank from, const A& argument), whose result, if any, is the answer.
    template <class A, class F>
    void on_value(std::uint16_t number, F f) {
        on(number, [f = std::move(f)](Rank from, std::span<const std::byte> argument,
                                      std::span<std::byte> answer) mutable {
            const A value = detail::value_of<A>(from, argument);
            return detail::answer_with(answer, [&] { return f(from, value); });
        });
    }
    /// Has the handler of this number run at `to`, who may be this rank. Waits for room, at most
    /// the deadline. Throws as Mailbox::send, and Errc::timeout with the rank. That there is no
    /// such handler is what `wait` throws (Errc::invalid_argument).
    [[nodiscard]] ActiveCall call(Rank to, std::uint16_t number,
                                  std::span<const std::byte> argument);
    template <class A>
    [[nodiscard]] ActiveCall call_value(Rank to, std::uint16_t number, const A& argument) {
        static_assert(detail::moves_as_bytes<A>());
        return call(to, number, std::as_bytes(std::span(&argument, 1)));
    }
    /// Runs what others have asked for; returns how much that was.
    std::size_t poll();
    /// The same; when there is nothing, waits for it, at most `limit`.
    std::size_t serve(std::chrono::nanoseconds limit);

    /// Others may use these elements through the pointer to the first one, until `withdraw` or the
    /// end of this object. They do that while this rank polls, so that nothing changes meanwhile.
    template <class T, std::size_t N>
    [[nodiscard]] GlobalPointer<T> offer(std::span<T, N> elements) {
        return {offer_bytes(std::as_writable_bytes(elements))};
    }
    /// Before the memory is freed. Whoever uses the pointer afterwards is told. Throws
    /// Errc::invalid_argument for what is not offered here.
    template <class T>
    void withdraw(GlobalPointer<T> first) {
        withdraw_region(first.address);
    }

    // At the owner. Throw as ActiveCall::wait, and Errc::invalid_argument for a null pointer, one
    // out of range, or memory that was withdrawn.
    template <class T>
    T get(GlobalPointer<T> from, std::chrono::nanoseconds limit = {}) {
        return begin_get(from.address, sizeof(T)).template value<T>(limit);
    }
    template <class T>
    void put(GlobalPointer<T> to, const std::type_identity_t<T>& value,
             std::chrono::nanoseconds limit = {}) {
        begin_put(to.address, std::as_bytes(std::span(&value, 1))).wait(limit);
    }
    /// Writes `desired` if the bytes are those of `expected`; returns what was there.
    template <class T>
    T compare_exchange(GlobalPointer<T> at, const std::type_identity_t<T>& expected,
                       const std::type_identity_t<T>& desired,
                       std::chrono::nanoseconds limit = {}) {
        static_assert(std::has_unique_object_representations_v<T>, "bytes are compared");
        const T both[2] = {expected, desired};
        return begin_exchange(at.address, std::as_bytes(std::span(both))).template value<T>(limit);
    }
    /// The same for bytes: `to` is filled; `value` has at most `put_bytes_max` bytes; both sides of
    /// an exchange together have at most that, and `was` gets what was there.
    void get_bytes(GlobalAddress from, std::span<std::byte> to,
                   std::chrono::nanoseconds limit = {});
    void put_bytes(GlobalAddress to, std::span<const std::byte> value,
                   std::chrono::nanoseconds limit = {});
    void compare_exchange_bytes(GlobalAddress at, std::span<const std::byte> expected,
                                std::span<const std::byte> desired, std::span<std::byte> was,
                                std::chrono::nanoseconds limit = {});
    /// The same, begun: the answer is what was there, nothing for a put. `both` is what is
    /// expected, and behind it as many bytes that are desired.
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

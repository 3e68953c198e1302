// SPDX-License-Identifier: Apache-2.0
// Calls between the ranks of a group, and objects on other ranks. docs/reference/remote.md says how
// they are used. After TACO (Nolte, Ishikawa, Sato, 2001).
#pragma once

#include <corymb/detail/remote_call.hpp>
#include <corymb/detail/remote_function.hpp>
#include <corymb/export.hpp>
#include <corymb/finish.hpp>
#include <corymb/rank.hpp>
#include <corymb/remote_error.hpp>
#include <corymb/scheduler.hpp>
#include <corymb/task.hpp>
#include <corymb/wait_policy.hpp>

#include <chrono>
#include <coroutine>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <memory>
#include <optional>
#include <stop_token>
#include <string_view>
#include <type_traits>
#include <utility>

namespace corymb {

namespace detail {
struct RemoteRankAccess;
} // namespace detail

struct RemoteOptions {
    /// Calls whose header of 16 bytes, arguments and strings have at most so many bytes are one
    /// message; longer ones are several. Up to 56 bytes a message is one cache line.
    std::size_t message_bytes = 56;
    /// Messages from one rank to one other that may be on their way; see MailboxOptions.
    std::size_t capacity = 128;
    /// How a rank waits when none of its tasks can go on.
    WaitPolicy wait = WaitPolicy::ladder;
    /// The memory can be shared with other processes (`RemoteGroup::make_descriptor`).
    bool between_processes = false;
    /// Processes of one user that give the same name and size meet in one group; see
    /// MailboxOptions. Implies `between_processes`. Empty: no name.
    std::string_view name{};
    /// When the task of `run` has waited for so long, the rank looks whether it is in a deadlock,
    /// and `run` throws Errc::deadlock if so; see docs/reference/remote.md. 0: never. Ranks that
    /// have opened the group have the default. Long against a pause that people take for one, short
    /// against their patience: ten seconds.
    std::chrono::nanoseconds deadlock_after = std::chrono::seconds(10);
};

/// A rank's place in a group: it calls others and serves their calls, by the tasks of its
/// scheduler. Movable; one thread at a time.
class CORYMB_EXPORT RemoteRank {
public:
    RemoteRank(RemoteRank&& other) noexcept;
    RemoteRank& operator=(RemoteRank&& other) noexcept;
    /// Leaves the group. Calls to this rank fail from then on.
    ~RemoteRank();

    [[nodiscard]] Rank rank() const noexcept;
    [[nodiscard]] int size() const noexcept;

    /// Runs the task, and serves the calls of others until the tasks of all ranks have ended; a
    /// rank whose process has ended counts. Then gives the result or throws, as Scheduler::run.
    template <class T>
    T run(Task<T> main, const std::stop_token& stop = {}) {
        return scheduler().run(among_all(std::move(main)), stop);
    }
    /// For programs with an event loop of their own. Calls of others are served in `poll`.
    [[nodiscard]] Scheduler& scheduler();

private:
    friend struct detail::RemoteRankAccess;
    explicit RemoteRank(std::unique_ptr<detail::RemoteState, void (*)(detail::RemoteState*)> state);
    template <class T>
    static Task<T> among_all(Task<T> main);
    std::unique_ptr<detail::RemoteState, void (*)(detail::RemoteState*)> state_;
};

/// The ranks that call each other: threads of one process or of several. Construct once, then each
/// thread joins with its own rank, in other processes after `open`.
class CORYMB_EXPORT RemoteGroup {
public:
    /// Throws as MailboxGroup.
    explicit RemoteGroup(int size, const RemoteOptions& options = {});
    /// As MailboxGroup::open.
    [[nodiscard]] static RemoteGroup open(int descriptor);
    /// As MailboxGroup::make_descriptor.
    [[nodiscard]] int make_descriptor() const;
    /// Makes this thread `rank`. Calls may have been sent to it already. Throws as
    /// MailboxGroup::join, and Errc::invalid_argument if the rank has left the group: pointers and
    /// calls of others would mean what it was.
    [[nodiscard]] RemoteRank join(Rank rank);
    [[nodiscard]] int size() const;

private:
    struct Parts;
    explicit RemoteGroup(std::shared_ptr<Parts> parts) noexcept;
    [[nodiscard]] Parts& parts() const;
    std::shared_ptr<Parts> parts_;
};

/// In a task of a RemoteRank: its rank, and the number of ranks. Throw Errc::invalid_argument in
/// other tasks and outside of tasks.
[[nodiscard]] CORYMB_EXPORT Rank here();
[[nodiscard]] CORYMB_EXPORT int ranks();

namespace detail {
template <class F, class... Arguments>
using ObjectCall = RemoteCall<ObjectWay<F>, Sent<Arguments>...>;
template <auto Function, class... Arguments>
using FunctionCall = RemoteCall<FunctionWay<Function>, Sent<Arguments>...>;

template <class F>
consteval bool is_object_that_travels() {
    static_assert(!std::is_pointer_v<F> && !std::is_member_pointer_v<F>,
                  "the address of a function means nothing in another process: name the function "
                  "as at<&function>(rank, arguments...)");
    // Asked here, while the caller is parsed: when gcc 12 cuts a coroutine into its parts, it takes
    // closures in it for types that are not trivially copyable.
    static_cast<void>(is_plain_data<F>);
    return true;
}
} // namespace detail

/// For co_await: runs f(arguments...) on rank `to`, which may be this one, and gives its result or
/// throws its exception. `f` is a function object, which travels with its state; its result may be
/// a Task, which then runs there. Arguments and results travel as RemoteCodec says. Calls of one
/// task to one rank begin in their order.
///
/// Throws Errc::team_broken naming the rank, if its process ends or it has left before it answers;
/// Errc::interrupted if the task is asked to stop: the called task is asked, too. An exception of
/// the call arrives as what it was if it is one of the standard library, an Error, or of a type
/// that was registered (RemoteException), otherwise as UnknownRemoteException.
template <class F, class... Arguments>
    requires std::is_invocable_v<F&, detail::Sent<Arguments>...>
[[nodiscard]] auto at(Rank to, F f, Arguments&&... arguments) {
    static_assert(detail::is_object_that_travels<F>());
    using What = detail::ObjectCall<F, Arguments...>;
    return detail::CallAwait<What>(to, What(std::move(f), std::forward<Arguments>(arguments)...));
}
/// As the other `at`, for a function that is named: at<&function>(rank, arguments...).
template <auto Function, class... Arguments>
[[nodiscard]] auto at(Rank to, Arguments&&... arguments) {
    using What = detail::FunctionCall<Function, Arguments...>;
    return detail::CallAwait<What>(to, What({}, std::forward<Arguments>(arguments)...));
}

/// For co_await: has f(arguments...) run on rank `to`, and returns when the request is on its way,
/// which takes as long as there is no room. The innermost `finish` around this call, or `run`,
/// waits for the end of the call and of all that it has spawned, and throws its exception. Throws
/// as `at`.
template <class F, class... Arguments>
    requires std::is_invocable_v<F&, detail::Sent<Arguments>...>
[[nodiscard]] auto tell(Rank to, F f, Arguments&&... arguments) {
    static_assert(detail::is_object_that_travels<F>());
    using What = detail::ObjectCall<F, Arguments...>;
    return detail::TellAwait<What>(to, What(std::move(f), std::forward<Arguments>(arguments)...),
                                   true);
}
template <auto Function, class... Arguments>
[[nodiscard]] auto tell(Rank to, Arguments&&... arguments) {
    using What = detail::FunctionCall<Function, Arguments...>;
    return detail::TellAwait<What>(to, What({}, std::forward<Arguments>(arguments)...), true);
}
/// As `tell`, but nobody learns of the end or of an exception: no answer is sent.
template <class F, class... Arguments>
    requires std::is_invocable_v<F&, detail::Sent<Arguments>...>
[[nodiscard]] auto post(Rank to, F f, Arguments&&... arguments) {
    static_assert(detail::is_object_that_travels<F>());
    using What = detail::ObjectCall<F, Arguments...>;
    return detail::TellAwait<What>(to, What(std::move(f), std::forward<Arguments>(arguments)...),
                                   false);
}
template <auto Function, class... Arguments>
[[nodiscard]] auto post(Rank to, Arguments&&... arguments) {
    using What = detail::FunctionCall<Function, Arguments...>;
    return detail::TellAwait<What>(to, What({}, std::forward<Arguments>(arguments)...), false);
}

namespace detail {
/// Until the tasks of all ranks have ended.
class CORYMB_EXPORT EndOfAll final : public Suspension {
public:
    [[nodiscard]] static constexpr bool await_ready() noexcept { return false; }
    template <TaskPromiseOf P>
    bool await_suspend(std::coroutine_handle<P> awaiting) {
        return enter(*awaiting.promise().strand, awaiting);
    }
    void await_resume() const noexcept {}
    EndOfAll() noexcept = default;
    ~EndOfAll();

private:
    bool enter(Strand& own, std::coroutine_handle<> at);
    void withdraw() noexcept override;
    RemoteState* state_ = nullptr;
};
} // namespace detail

template <class T>
Task<T> RemoteRank::among_all(Task<T> main) {
    std::optional<std::conditional_t<std::is_void_v<T>, bool, T>> result;
    std::exception_ptr thrown;
    try {
        co_await finish([&]() -> Task<> {
            if constexpr (std::is_void_v<T>) {
                co_await std::move(main);
            } else {
                result.emplace(co_await std::move(main));
            }
        });
    } catch (...) {
        thrown = std::current_exception();
    }
    co_await detail::EndOfAll();
    if (thrown != nullptr) {
        std::rethrow_exception(thrown);
    }
    if constexpr (!std::is_void_v<T>) {
        co_return std::move(*result);
    }
}

} // namespace corymb

// SPDX-License-Identifier: Apache-2.0
// Functions that other ranks may call, found by the names of their types: those are equal in all
// processes of a program, wherever it and its libraries were loaded.
#pragma once

#include <corymb/detail/remote_codec.hpp>
#include <corymb/export.hpp>
#include <corymb/finish.hpp>
#include <corymb/rank.hpp>
#include <corymb/task.hpp>

#include <cstddef>
#include <cstdint>
#include <exception>
#include <optional>
#include <tuple>
#include <type_traits>
#include <typeinfo>
#include <utility>

namespace corymb::detail {

struct RemoteState; // src/remote/

/// Whom to answer.
class CORYMB_EXPORT Reply {
public:
    Reply(RemoteState& here, Rank to, std::uint32_t call) noexcept
        : here_(&here), to_(to), call_(call) {}
    /// Sends the result, if somebody wants one.
    template <class R>
    void answer(const R& result) const {
        if (is_wanted()) {
            const auto write = [&result](RemoteWriter& to) {
                RemoteCodec<R>::write(to, result);
            };
            send(RemoteCodec<R>::size(result), Writes(write));
        }
    }
    void answer() const {
        if (is_wanted()) {
            const auto nothing = [](RemoteWriter& /*to*/) {
            };
            send(0, Writes(nothing));
        }
    }
    /// Sends the exception, which is lost if nobody waits.
    void fail(const std::exception_ptr& thrown) const noexcept;
    [[nodiscard]] RemoteState& here() const noexcept { return *here_; }
    [[nodiscard]] Rank to() const noexcept { return to_; }
    [[nodiscard]] std::uint32_t call() const noexcept { return call_; }
    [[nodiscard]] bool is_wanted() const noexcept { return call_ != nobody; }

    static constexpr std::uint32_t nobody = 0xffff'ffff;

    /// A function that writes bytes, without a type; not owning.
    class Writes {
    public:
        template <class F>
        explicit Writes(const F& f) noexcept
            : self_(&f), call_([](const void* self, RemoteWriter& to) {
                  (*static_cast<const F*>(self))(to);
              }) {}
        void operator()(RemoteWriter& to) const { call_(self_, to); }

    private:
        const void* self_;
        void (*call_)(const void*, RemoteWriter&);
    };

private:
    void send(std::size_t bytes, const Writes& write) const;
    RemoteState* here_;
    Rank to_;
    std::uint32_t call_;
};

/// A request as it arrives. The bytes are gone when it has been invoked.
struct Incoming {
    Reply reply;
    RemoteReader arguments;
};
/// Begins a task for a request: it is asked to stop when the caller is.
CORYMB_EXPORT void serve_request(const Reply& reply, Task<> task);

/// A function that can be called, as long as this object lives.
class CORYMB_EXPORT RemoteFunction {
public:
    using Invoke = void (*)(Incoming& request);
    RemoteFunction(const std::type_info& named, Invoke invoke);
    RemoteFunction(const RemoteFunction&) = delete;
    RemoteFunction& operator=(const RemoteFunction&) = delete;
    ~RemoteFunction();
    [[nodiscard]] std::uint64_t id() const noexcept { return id_; }
    [[nodiscard]] const char* name() const noexcept { return name_; }
    [[nodiscard]] Invoke invoke() const noexcept { return invoke_; }

private:
    const char* name_;
    std::uint64_t id_; ///< Hash of the name.
    Invoke invoke_;
};

/// The function of a type with `static void invoke(Incoming&)`, registered when the program or
/// library that uses it is loaded.
template <class Named>
inline const RemoteFunction remote_function{typeid(Named), &Named::invoke};

template <class T>
inline constexpr bool is_task = false;
template <class T>
inline constexpr bool is_task<Task<T>> = true;
template <class T>
struct ResultOf {
    using Type = std::remove_cvref_t<T>; ///< What a reference is to travels.
};
template <class T>
struct ResultOf<Task<T>> {
    using Type = std::remove_cvref_t<T>;
};

/// Runs a call as a task: it is answered when the task has ended and all that it has spawned.
template <class R, class Run, class... Arguments>
Task<> serve(Reply reply, Run run, std::tuple<Arguments...> arguments) {
    FinishScope scope(co_await OwnStrand{});
    std::optional<std::conditional_t<std::is_void_v<R>, bool, R>> result;
    std::exception_ptr thrown;
    try {
        if constexpr (std::is_void_v<R>) {
            co_await std::apply(run, std::move(arguments));
            result = true;
        } else {
            result.emplace(co_await std::apply(run, std::move(arguments)));
        }
    } catch (...) {
        thrown = std::current_exception();
    }
    if (thrown != nullptr) {
        scope.note(thrown);
        thrown = nullptr;
    }
    try {
        co_await scope;
        if constexpr (std::is_void_v<R>) {
            reply.answer();
        } else {
            reply.answer(*result);
        }
    } catch (...) {
        thrown = std::current_exception();
    }
    if (thrown != nullptr) {
        reply.fail(thrown);
    }
}

/// Runs `run` with these arguments and answers, at once or as a task.
template <class Run, class... Arguments>
void run_request(const Reply& reply, Run run, std::tuple<Arguments...> arguments) {
    using Result = std::invoke_result_t<Run&, Arguments...>;
    using R = typename ResultOf<Result>::Type;
    if constexpr (is_task<Result>) {
        serve_request(reply, serve<R>(reply, std::move(run), std::move(arguments)));
    } else if constexpr (std::is_void_v<R>) {
        std::apply(run, std::move(arguments));
        reply.answer();
    } else {
        reply.answer(R(std::apply(run, std::move(arguments))));
    }
}

/// As an argument travels: an array is a row, a literal a string.
template <class T>
using Sent = std::conditional_t<std::is_convertible_v<std::decay_t<T>, const char*> &&
                                    std::is_pointer_v<std::decay_t<T>>,
                                std::string, std::decay_t<T>>;

/// A function object, which travels with its state.
template <class F, class... Arguments>
struct CallOfObject {
    static void invoke(Incoming& request) {
        F run = RemoteCodec<F>::read(request.arguments);
        run_request(request.reply, std::move(run), read_all<Arguments...>(request.arguments));
    }
};

/// A function that is named when the program is compiled.
template <auto Function, class... Arguments>
struct CallOfFunction {
    static void invoke(Incoming& request) {
        const auto run = [](auto&&... arguments) -> decltype(auto) {
            return Function(std::forward<decltype(arguments)>(arguments)...);
        };
        run_request(request.reply, run, read_all<Arguments...>(request.arguments));
    }
};

} // namespace corymb::detail

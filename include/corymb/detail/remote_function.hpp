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
#include <span>
#include <string>
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
/// While this lives no task runs: a function that is no task may neither wait nor spawn.
class CORYMB_EXPORT OutsideOfTasks {
public:
    explicit OutsideOfTasks(Strand& own) noexcept;
    OutsideOfTasks(const OutsideOfTasks&) = delete;
    OutsideOfTasks& operator=(const OutsideOfTasks&) = delete;
    ~OutsideOfTasks();

private:
    Strand* own_;
};

/// Begins a task for a request: it is asked to stop when the caller is. `runs` names the type of
/// what it runs. `has_joined`: the first link of its chain of calls is its own.
CORYMB_EXPORT void serve_request(const Reply& reply, Task<> task, const char* runs,
                                 bool has_joined);

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

// Arguments of a call that is about to run: values, which are moved, and rows, which are viewed.
template <class T>
T&& passed(T& value) noexcept {
    return static_cast<T&&>(value);
}
template <class T>
std::span<const T> passed(KeptRow<T>& row) noexcept {
    return row.pass();
}
template <class Run, class... Kept>
decltype(auto) run_with(Run& run, std::tuple<Kept...>& arguments) {
    return std::apply([&run](Kept&... each) -> decltype(auto) { return run(passed(each)...); },
                      arguments);
}
template <class T>
void keep(T& /*value*/) noexcept {}
template <class T>
void keep(KeptRow<T>& row) {
    row.keep();
}

/// Calls of an object: they may have to wait for others.
template <class Run>
concept UsesObject = requires(Run& run) { run.use.is_in(); };
template <class Run>
bool must_wait(const Run& run) noexcept {
    if constexpr (UsesObject<Run>) {
        return !run.use.is_in();
    } else {
        return false;
    }
}

/// Runs a call as a task: it is answered when the task has ended and all that it has spawned.
template <class R, class Run, class... Kept>
Task<> serve(Reply reply, Run run, std::tuple<Kept...> arguments) {
    FinishScope scope(co_await OwnStrand{});
    std::optional<std::conditional_t<std::is_void_v<R>, bool, R>> result;
    std::exception_ptr thrown;
    try {
        if constexpr (UsesObject<Run>) {
            if (!run.use.is_in()) {
                co_await run.use.enter();
            }
        }
        if constexpr (is_task<decltype(run_with(run, arguments))>) {
            if constexpr (std::is_void_v<R>) {
                co_await run_with(run, arguments);
                result = true;
            } else {
                result.emplace(co_await run_with(run, arguments));
            }
        } else if constexpr (std::is_void_v<R>) {
            const OutsideOfTasks here(running_strand());
            run_with(run, arguments);
            result = true;
        } else {
            const OutsideOfTasks here(running_strand());
            result.emplace(run_with(run, arguments));
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
        if constexpr (UsesObject<Run>) {
            run.use.leave();
        }
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

/// Has it run as a task.
template <class Run, class... Kept>
void serve_run(const Reply& reply, Run run, std::tuple<Kept...> arguments) {
    using Result = decltype(run_with(run, arguments));
    std::apply([](Kept&... each) { (keep(each), ...); }, arguments);
    bool has_joined = false;
    if constexpr (UsesObject<Run> && is_task<Result>) {
        has_joined = run.use.join_chain(run.id);
    }
    serve_request(
        reply, serve<typename ResultOf<Result>::Type>(reply, std::move(run), std::move(arguments)),
        typeid(Run).name(), has_joined);
}

/// Runs `run` with these arguments and answers, at once or as a task.
template <class Run, class... Kept>
void run_request(const Reply& reply, Run run, std::tuple<Kept...> arguments) {
    using Result = decltype(run_with(run, arguments));
    using R = typename ResultOf<Result>::Type;
    if (is_task<Result> || must_wait(run)) {
        if constexpr (is_task<Result> || UsesObject<Run>) {
            serve_run(reply, std::move(run), std::move(arguments));
        }
    } else if constexpr (!is_task<Result>) {
        if constexpr (std::is_void_v<R>) {
            run_with(run, arguments);
            reply.answer();
        } else {
            reply.answer(R(run_with(run, arguments)));
        }
    }
}

/// As an argument travels: an array is a row, a literal a string, a span its elements.
template <class T>
struct SentAs {
    using Type = T;
};
template <>
struct SentAs<const char*> {
    using Type = std::string;
};
template <>
struct SentAs<char*> {
    using Type = std::string;
};
template <class T, std::size_t N>
struct SentAs<std::span<T, N>> {
    using Type = std::span<const std::remove_cv_t<T>>;
};
template <class T>
using Sent = typename SentAs<std::decay_t<T>>::Type;
/// As it is kept on the called rank.
template <class T>
using Kept = decltype(RemoteCodec<T>::read(std::declval<RemoteReader&>()));

/// In place of a head that does not travel.
struct NoHead {};

/// A call: a Way, and the values that travel. A Way has
///
///     using Head = ...;                                 What travels before the arguments.
///     static ... prepare(RemoteState& here, Head head); Gives what is called with the arguments,
///                                                       on the called rank. May throw.
template <class Way, class... Arguments>
class RemoteCall {
public:
    using Head = typename Way::Head;
    using Run = decltype(Way::prepare(std::declval<RemoteState&>(), std::declval<Head>()));
    using Result = std::invoke_result_t<Run&, Arguments...>;
    using Value = typename ResultOf<Result>::Type;
    static constexpr bool is_of_task = is_task<Result>;

    explicit RemoteCall(Head head, Arguments... arguments)
        : head_(std::move(head)), arguments_(std::move(arguments)...) {}
    [[nodiscard]] const Head& head() const noexcept { return head_; }

    // On the calling rank.
    [[nodiscard]] static const RemoteFunction& function() noexcept {
        return remote_function<RemoteCall>;
    }
    [[nodiscard]] std::size_t size() const {
        return std::apply([this](const Arguments&... each) { return size_of_all(head_, each...); },
                          arguments_);
    }
    void operator()(RemoteWriter& to) const {
        std::apply([&](const Arguments&... each) { write_all(to, head_, each...); }, arguments_);
    }

    // On the called rank.
    static void invoke(Incoming& request) {
        Run run = Way::prepare(request.reply.here(), RemoteCodec<Head>::read(request.arguments));
        run_request(
            request.reply, std::move(run),
            std::tuple<Kept<Arguments>...>{RemoteCodec<Arguments>::read(request.arguments)...});
    }

    // If the calling rank is the called one: the values are moved.
    Run prepare_here(RemoteState& here) { return Way::prepare(here, std::move(head_)); }
    Value run_here(Run& run) { return static_cast<Value>(std::apply(run, std::move(arguments_))); }
    void serve_here(const Reply& reply, Run run) {
        serve_run(reply, std::move(run), std::tuple<Kept<Arguments>...>(std::move(arguments_)));
    }

private:
    [[no_unique_address]] Head head_;
    std::tuple<Arguments...> arguments_;
};

/// A function object, which travels with its state.
template <class F>
struct ObjectWay {
    using Head = F;
    static F prepare(RemoteState& /*here*/, F function) { return function; }
};

/// A function that is named when the program is compiled.
template <auto Function>
struct FunctionWay {
    using Head = NoHead;
    static auto prepare(RemoteState& /*here*/, NoHead /*none*/) {
        return [](auto&&... arguments) -> decltype(auto) {
            return Function(std::forward<decltype(arguments)>(arguments)...);
        };
    }
};

} // namespace corymb::detail

template <>
struct corymb::RemoteCodec<corymb::detail::NoHead> {
    static constexpr std::size_t size(const detail::NoHead& /*none*/) noexcept { return 0; }
    static void write(RemoteWriter& /*to*/, const detail::NoHead& /*none*/) noexcept {}
    static detail::NoHead read(RemoteReader& /*from*/) noexcept { return {}; }
};

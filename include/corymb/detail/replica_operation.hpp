// SPDX-License-Identifier: Apache-2.0
// Operations on replicated objects, and what a rank answers others about its part of one.
#pragma once

#include <corymb/detail/now_or_later.hpp>
#include <corymb/detail/remote_codec.hpp>
#include <corymb/detail/remote_function.hpp>
#include <corymb/detail/remote_object.hpp>
#include <corymb/detail/replica_core.hpp>
#include <corymb/plain_data.hpp>

#include <cstddef>
#include <cstring>
#include <functional>
#include <span>
#include <tuple>
#include <type_traits>
#include <utility>

namespace corymb::detail {

/// A method as a function object.
template <auto Method>
struct ReplicaMethod {
    template <class... A>
    decltype(auto) operator()(typename MemberOf<decltype(Method)>::Class& object,
                              A&&... arguments) const {
        return (object.*Method)(std::forward<A>(arguments)...);
    }
};

/// F(T&, Arguments...), and what travels.
template <class T, class F, class... Arguments>
class ReplicaOperation {
    using Given = std::invoke_result_t<F&, T&, Arguments...>;
    static_assert(!is_task<Given>, "each replica applies an operation at once: it can be no task");

public:
    using Result = std::remove_cvref_t<Given>;
    static_assert(std::is_void_v<Result> || std::is_trivially_copyable_v<Result>,
                  "what an operation gives is plain data: read anything else after it");

    explicit ReplicaOperation(F function, Arguments... arguments)
        : function_(std::move(function)), arguments_(std::move(arguments)...) {}

    [[nodiscard]] static const RemoteFunction& function() noexcept {
        return remote_function<ReplicaOperation>;
    }
    [[nodiscard]] std::size_t size() const {
        return std::apply(
            [this](const Arguments&... each) { return size_of_all(function_, each...); },
            arguments_);
    }
    void write(RemoteWriter& to) const {
        std::apply([&](const Arguments&... each) { write_all(to, function_, each...); },
                   arguments_);
    }
    /// Applies one, of a ReplicaRequest.
    static void invoke(Incoming& incoming) {
        auto& request = static_cast<ReplicaRequest&>(incoming);
        F function = RemoteCodec<F>::read(request.arguments);
        T& object = *static_cast<T*>(request.object);
        const auto run = [&](auto&&... each) -> decltype(auto) {
            return std::invoke(function, object, std::forward<decltype(each)>(each)...);
        };
        std::tuple<Kept<Arguments>...> kept{RemoteCodec<Arguments>::read(request.arguments)...};
        if constexpr (std::is_void_v<Result>) {
            run_with(run, kept);
        } else {
            static_assert(moves_as_bytes<Result>() && sizeof(Result) <= longest_replica_result,
                          "what an operation gives has at most 200 bytes: read more after it");
            const Result result = run_with(run, kept);
            if (!request.result.empty()) {
                std::memcpy(request.result.data(), &result, sizeof result);
            }
        }
    }
    static Result result(const ReplicaCore& core) {
        RemoteReader from(core.result());
        if constexpr (!std::is_void_v<Result>) {
            return RemoteCodec<Result>::read(from);
        }
    }

private:
    F function_;
    std::tuple<Arguments...> arguments_;
};

/// What f() gives, as something that is there already.
template <class F>
NowOrLater<std::decay_t<std::invoke_result_t<const F&>>> now(const F& f) {
    if constexpr (std::is_void_v<std::invoke_result_t<const F&>>) {
        f();
        return true;
    } else {
        return f();
    }
}

/// A rank's part of a replicated object, for the others.
struct ReplicaPart {
    explicit ReplicaPart(int of_group) noexcept : group(of_group) {}
    int group; ///< Ranks of one number share a replica.
    PartName log;
    PartName replica;
    ReplicaCore* core = nullptr; ///< Null: it is not made yet.

    [[nodiscard]] int group_number() const noexcept { return group; }
    [[nodiscard]] PartName log_name() const noexcept { return log; }
    [[nodiscard]] PartName replica_name() const noexcept { return replica; }
    void catch_up() const {
        if (core != nullptr) {
            core->catch_up();
        }
    }
};

/// In a task: throws Errc::unsupported if ranks are on several nodes, Errc::invalid_argument if
/// they are in several processes and the object is no plain data.
CORYMB_EXPORT void require_replicas_can_be(bool is_plain);

} // namespace corymb::detail

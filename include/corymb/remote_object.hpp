// SPDX-License-Identifier: Apache-2.0
// Objects on other ranks, and pointers to them.
#pragma once

#include <corymb/remote.hpp>

#include <compare>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <type_traits>
#include <typeinfo>
#include <utility>

namespace corymb {

template <class T>
class Remote;

namespace detail {

/// Names an object of one group, once: no other object has it later.
struct RemoteId {
    Rank rank = -1; ///< -1: none.
    std::uint32_t slot = 0;
    std::uint32_t generation = 0;
    std::uint32_t group = 0; ///< A mark of the group.
    /// In the generation: the object has a name, `slot` is the hash of the name, and the rest of
    /// the generation counts the objects that the rank has given this name.
    static constexpr std::uint32_t named = 0x8000'0000;
    [[nodiscard]] bool is_named() const noexcept { return (generation & named) != 0; }
    friend auto operator<=>(const RemoteId&, const RemoteId&) = default;
};

/// Keeps an object while a call of it runs.
class CORYMB_EXPORT ObjectUse {
public:
    /// Throws Errc::invalid_argument if there is no such object here, or it is no `type`.
    ObjectUse(RemoteState& here, const RemoteId& id, const std::type_info& type);
    ObjectUse(ObjectUse&& other) noexcept;
    ObjectUse& operator=(ObjectUse&&) = delete;
    ~ObjectUse();
    [[nodiscard]] void* object() const noexcept { return object_; }

private:
    RemoteState* here_;
    std::uint32_t slot_;
    void* object_;
};

using Delete = void (*)(void* object);
/// Puts an object into the table of a rank. `end` null: it belongs to somebody else.
CORYMB_EXPORT RemoteId adopt(RemoteState& here, void* object, const std::type_info& type,
                             Delete end);
/// In a call: takes an object out of the table of this rank, and ends it when no call of it runs
/// any more. Throws as ObjectUse.
CORYMB_EXPORT void abandon(const RemoteId& id);
/// In a task.
[[nodiscard]] CORYMB_EXPORT RemoteState& remote_state_here();
/// The object, if it is here; else null. Throws as ObjectUse if it is gone.
CORYMB_EXPORT void* local_object(const RemoteId& id, const std::type_info& type);

/// Derived to base, as it is found on the object's rank.
class CORYMB_EXPORT Upcast {
public:
    using Convert = void* (*)(void*);
    Upcast(const std::type_info& from, const std::type_info& to, Convert convert);
    Upcast(const Upcast&) = delete;
    Upcast& operator=(const Upcast&) = delete;
    ~Upcast();

private:
    const char* from_;
    const char* to_;
};
template <class Derived, class Base>
inline const Upcast upcast{typeid(Derived), typeid(Base), [](void* object) -> void* {
                               return static_cast<Base*>(static_cast<Derived*>(object));
                           }};

template <auto Method, class T, class... Arguments>
struct CallOfMethod {
    static void invoke(Incoming& request) {
        const auto id = RemoteCodec<RemoteId>::read(request.arguments);
        auto run = [use = ObjectUse(request.reply.here(), id, typeid(T))](
                       auto&&... arguments) -> decltype(auto) {
            return (static_cast<T*>(use.object())->*Method)(
                std::forward<decltype(arguments)>(arguments)...);
        };
        run_request(request.reply, std::move(run), read_all<Arguments...>(request.arguments));
    }
};

/// Makes pointers.
struct RemoteAccess {
    template <class T>
    static Remote<T> pointer(const RemoteId& id) noexcept {
        return Remote<T>(id);
    }
    template <class T>
    static const RemoteId& id(const Remote<T>& of) noexcept {
        return of.id_;
    }
};

template <class T, class... Arguments>
struct CallOfMaking {
    static void invoke(Incoming& request) {
        const auto make = [here = &request.reply.here()](auto&&... arguments) {
            auto made = std::make_unique<T>(std::forward<decltype(arguments)>(arguments)...);
            const RemoteId id = adopt(*here, made.get(), typeid(T),
                                      [](void* object) { delete static_cast<T*>(object); });
            static_cast<void>(made.release());
            return RemoteAccess::pointer<T>(id);
        };
        run_request(request.reply, make, read_all<Arguments...>(request.arguments));
    }
};

} // namespace detail

/// A pointer to an object on some rank. A value: may be copied, compared, stored, and sent in
/// calls. It never reaches a wrong object: a call with a pointer to one that is gone, or of another
/// group, is refused.
template <class T>
class Remote {
public:
    Remote() noexcept = default; ///< To no object.
    /// To a base.
    template <std::derived_from<T> Derived>
        requires(!std::same_as<Derived, T>)
    Remote(const Remote<Derived>& from) noexcept : id_(from.id_) {
        static_cast<void>(&detail::upcast<Derived, T>);
    }

    explicit operator bool() const noexcept { return id_.rank >= 0; }
    /// Where the object is; -1 for none.
    [[nodiscard]] Rank rank() const noexcept { return id_.rank; }
    friend auto operator<=>(const Remote&, const Remote&) = default;

    /// For co_await: calls a method as `at` calls a function: r.call<&T::method>(arguments...).
    /// Throws as `at`, and Errc::invalid_argument if there is no such object.
    template <auto Method, class... Arguments>
        requires std::is_invocable_v<decltype(Method), T&, detail::Sent<Arguments>...>
    [[nodiscard]] auto call(Arguments&&... arguments) const {
        using Result = std::invoke_result_t<decltype(Method), T&, detail::Sent<Arguments>...>;
        using What = MethodCall<Method, Arguments...>;
        return detail::CallAwait<typename detail::ResultOf<Result>::Type, What>(
            id_.rank, What(id_, std::forward<Arguments>(arguments)...));
    }
    /// As the function `tell`.
    template <auto Method, class... Arguments>
        requires std::is_invocable_v<decltype(Method), T&, detail::Sent<Arguments>...>
    [[nodiscard]] auto tell(Arguments&&... arguments) const {
        using What = MethodCall<Method, Arguments...>;
        return detail::TellAwait<What>(id_.rank, What(id_, std::forward<Arguments>(arguments)...),
                                       true);
    }
    /// As the function `post`.
    template <auto Method, class... Arguments>
        requires std::is_invocable_v<decltype(Method), T&, detail::Sent<Arguments>...>
    [[nodiscard]] auto post(Arguments&&... arguments) const {
        using What = MethodCall<Method, Arguments...>;
        return detail::TellAwait<What>(id_.rank, What(id_, std::forward<Arguments>(arguments)...),
                                       false);
    }

    /// In a task: the object itself if it is on this rank, else null. Valid until the task waits.
    /// Throws Errc::invalid_argument if it is gone.
    [[nodiscard]] T* local() const { return static_cast<T*>(detail::local_object(id_, typeid(T))); }
    /// For co_await: ends the object, when the calls of it that run have ended. Throws as `at`, and
    /// Errc::invalid_argument if there is no such object. One that was offered is only withdrawn.
    [[nodiscard]] auto destroy() const { return at<&detail::abandon>(id_.rank, id_); }

private:
    template <class U>
    friend class Remote;
    friend detail::RemoteAccess;
    template <auto Method, class... Arguments>
    using MethodCall = detail::Packed<detail::CallOfMethod<Method, T, detail::Sent<Arguments>...>,
                                      detail::RemoteId, detail::Sent<Arguments>...>;
    explicit Remote(const detail::RemoteId& id) noexcept : id_(id) {}
    detail::RemoteId id_;
};

/// For co_await: makes a T of these arguments on rank `to`, and gives the pointer to it. The object
/// lives until it is destroyed or its rank leaves the group. Throws as `at`.
template <class T, class... Arguments>
[[nodiscard]] auto create(Rank to, Arguments&&... arguments) {
    using What = detail::Packed<detail::CallOfMaking<T, detail::Sent<Arguments>...>,
                                detail::Sent<Arguments>...>;
    return detail::CallAwait<Remote<T>, What>(to, What(std::forward<Arguments>(arguments)...));
}

/// In a task: a pointer to an object of this rank that exists already, and must exist until
/// `destroy` of the pointer has returned.
template <class T>
[[nodiscard]] Remote<T> offer(T& object) {
    return detail::RemoteAccess::pointer<T>(
        detail::adopt(detail::remote_state_here(), std::addressof(object), typeid(T), nullptr));
}

} // namespace corymb

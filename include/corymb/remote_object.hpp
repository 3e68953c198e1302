// SPDX-License-Identifier: Apache-2.0
// Objects on other ranks, and pointers to them.
#pragma once

#include <corymb/call_rule.hpp>
#include <corymb/detail/remote_migration.hpp>
#include <corymb/detail/remote_object.hpp>
#include <corymb/remote.hpp>

#include <compare>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <type_traits>
#include <typeinfo>
#include <utility>
#include <vector>

namespace corymb {

/// A pointer to an object on some rank, to a member of one, or to an element of several. A value:
/// may be copied, compared, hashed, stored, and sent in calls. It never reaches a wrong object: a
/// call with a pointer to one that is gone, beyond the last element, or of another group, is
/// refused with Errc::invalid_argument.
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
    /// Where the object was made, and is if it has not moved; -1 for none.
    [[nodiscard]] Rank rank() const noexcept { return id_.rank; }
    friend auto operator<=>(const Remote&, const Remote&) = default;
    /// The element `by` further on. The object's rank checks whether there is one.
    friend Remote operator+(Remote from, std::ptrdiff_t by) noexcept {
        from.id_.offset += static_cast<std::uint64_t>(by) * sizeof(T);
        return from;
    }

    /// For co_await: calls a method as `at` calls a function: r.call<&T::method>(arguments...).
    /// Throws as `at`, Errc::invalid_argument if there is no such object, and Errc::deadlock if the
    /// call would wait for one that has led to it (CallRule).
    template <auto Method, class... Arguments>
        requires std::is_invocable_v<decltype(Method), T&, detail::Sent<Arguments>...>
    [[nodiscard]] auto call(Arguments&&... arguments) const {
        return call_of<MethodCall<Method, Arguments...>>(std::forward<Arguments>(arguments)...);
    }
    /// As the function `tell`.
    template <auto Method, class... Arguments>
        requires std::is_invocable_v<decltype(Method), T&, detail::Sent<Arguments>...>
    [[nodiscard]] auto tell(Arguments&&... arguments) const {
        return tell_of<MethodCall<Method, Arguments...>>(true,
                                                         std::forward<Arguments>(arguments)...);
    }
    /// As the function `post`.
    template <auto Method, class... Arguments>
        requires std::is_invocable_v<decltype(Method), T&, detail::Sent<Arguments>...>
    [[nodiscard]] auto post(Arguments&&... arguments) const {
        return tell_of<MethodCall<Method, Arguments...>>(false,
                                                         std::forward<Arguments>(arguments)...);
    }
    /// As `call`, `tell` and `post` of a method, for a function object f(T&, arguments...), which
    /// travels with its state. Runs as a whole before another call of the object, if it is no task:
    /// p.call([](long& sum, long by) { return std::exchange(sum, sum + by); }, 1L).
    template <class F, class... Arguments>
        requires std::is_invocable_v<F&, T&, detail::Sent<Arguments>...>
    [[nodiscard]] auto call(F f, Arguments&&... arguments) const {
        static_assert(detail::is_object_that_travels<F>());
        return call_of<FunctionCall<F, Arguments...>>(std::move(f),
                                                      std::forward<Arguments>(arguments)...);
    }
    template <class F, class... Arguments>
        requires std::is_invocable_v<F&, T&, detail::Sent<Arguments>...>
    [[nodiscard]] auto tell(F f, Arguments&&... arguments) const {
        static_assert(detail::is_object_that_travels<F>());
        return tell_of<FunctionCall<F, Arguments...>>(true, std::move(f),
                                                      std::forward<Arguments>(arguments)...);
    }
    template <class F, class... Arguments>
        requires std::is_invocable_v<F&, T&, detail::Sent<Arguments>...>
    [[nodiscard]] auto post(F f, Arguments&&... arguments) const {
        static_assert(detail::is_object_that_travels<F>());
        return tell_of<FunctionCall<F, Arguments...>>(false, std::move(f),
                                                      std::forward<Arguments>(arguments)...);
    }

    /// For co_await: a copy of the object. Throws as `call`.
    [[nodiscard]] auto get() const {
        const auto copy = [](const T& object) {
            return object;
        };
        using What =
            detail::RemoteCall<detail::FunctionOnObjectWay<T, CallRule::shared>, decltype(copy)>;
        return call_of<What>(copy);
    }
    /// For co_await: assigns to the object. Throws as `call`.
    template <class U = T>
    [[nodiscard]] auto put(std::type_identity_t<U> value) const {
        return call([](U& object, U&& assigned) { object = std::move(assigned); },
                    std::move(value));
    }
    /// For co_await: copies of this element and those behind it, `count` in all, as a vector.
    [[nodiscard]] auto get(std::size_t count) const {
        using What = detail::RemoteCall<detail::ElementsWay<T, CallRule::shared>, std::uint64_t>;
        return call_of<What>(std::uint64_t{count});
    }
    /// For co_await: assigns to this element and those behind it. The values are read before the
    /// call is on its way.
    [[nodiscard]] auto put(std::span<const T> values) const {
        using What =
            detail::RemoteCall<detail::ElementsWay<T, CallRule::exclusive>, std::span<const T>>;
        return call_of<What>(values);
    }
    /// For co_await: a pointer to a member, as r.member<&T::sum>(). It is good as long as the
    /// object. Asks the object's rank where the member lies.
    template <auto Member>
        requires std::is_member_object_pointer_v<decltype(Member)>
    [[nodiscard]] auto member() const {
        return detail::MemberAwait<T, Member>(id_);
    }

    /// For co_await: moves the object to that rank, behind the calls that came before. Pointers to
    /// it and to its parts stay good. It was made by `create`, and travels as an argument does: T
    /// has a RemoteCodec, which also says what of it goes along. Waits until no call of it runs.
    ///
    /// Throws as `call`; Errc::invalid_argument for an object that was offered or has a name, and
    /// if the pointer is to a part; Errc::deadlock in a method of the object. Then the object is
    /// where it was, and so it is if the codec throws or the rank `to` ends before it has come.
    [[nodiscard]] auto migrate(Rank to) const { return detail::MoveAwait<T>(id_, to); }
    /// As `migrate`, when it can: nobody waits, and nobody learns of an exception. For methods of
    /// the object itself.
    [[nodiscard]] auto post_migration(Rank to) const {
        return tell_of<detail::RemoteCall<detail::MoveWay<T>, Rank>>(false, to);
    }

    /// In a task: the object itself if it is on this rank, else null. Valid until the task waits.
    /// Throws Errc::invalid_argument if it is gone.
    [[nodiscard]] T* local() const { return static_cast<T*>(detail::local_object(id_, typeid(T))); }
    /// For co_await: ends the object, when the calls of it that run have ended. Throws as `at`, and
    /// Errc::invalid_argument if there is no such object. One that was offered is only withdrawn.
    [[nodiscard]] auto destroy() const { return call_of<detail::RemoteCall<detail::DestroyWay>>(); }

private:
    template <class U>
    friend class Remote;
    friend detail::RemoteAccess;
    template <auto Method, class... Arguments>
    using MethodCall = detail::RemoteCall<detail::MethodWay<T, Method>, detail::Sent<Arguments>...>;
    template <class F, class... Arguments>
    using FunctionCall =
        detail::RemoteCall<detail::FunctionOnObjectWay<T>, F, detail::Sent<Arguments>...>;
    template <class What, class... Arguments>
    [[nodiscard]] auto call_of(Arguments&&... arguments) const {
        return detail::CallAwait<What>(
            id_.rank, What(detail::CalledObject{id_}, std::forward<Arguments>(arguments)...));
    }
    template <class What, class... Arguments>
    [[nodiscard]] auto tell_of(bool is_counted, Arguments&&... arguments) const {
        return detail::TellAwait<What>(
            id_.rank, What(detail::CalledObject{id_}, std::forward<Arguments>(arguments)...),
            is_counted);
    }
    explicit Remote(const detail::RemoteId& id) noexcept : id_(id) {}
    detail::RemoteId id_;
};

/// For co_await: makes a T of these arguments on rank `to`, and gives the pointer to it. The object
/// lives until it is destroyed or its rank leaves the group. Throws as `at`.
template <class T, class... Arguments>
[[nodiscard]] auto create(Rank to, Arguments&&... arguments) {
    using What = detail::RemoteCall<detail::MakingWay<T>, detail::Sent<Arguments>...>;
    return detail::CallAwait<What>(to, What({}, std::forward<Arguments>(arguments)...));
}

/// In a task: a pointer to an object of this rank that exists already, and must exist until
/// `destroy` of the pointer has returned.
template <class T>
    requires(!detail::is_span<T>)
[[nodiscard]] Remote<T> offer(T& object) {
    return detail::RemoteAccess::pointer<T>(
        detail::adopt(detail::remote_state_here(), {std::addressof(object), &typeid(T), sizeof(T),
                                                    1, nullptr, is_exclusive<T>}));
}
/// In a task: a pointer to the first of these elements, which must exist as long. The others are
/// found by `+`.
template <class T, std::size_t N>
[[nodiscard]] Remote<T> offer(std::span<T, N> elements) {
    return detail::RemoteAccess::pointer<T>(
        detail::adopt(detail::remote_state_here(), {elements.data(), &typeid(T), sizeof(T),
                                                    elements.size(), nullptr, is_exclusive<T>}));
}

} // namespace corymb

template <class T>
struct std::hash<corymb::Remote<T>> {
    std::size_t operator()(const corymb::Remote<T>& of) const noexcept {
        return corymb::detail::RemoteAccess::id(of).hash();
    }
};

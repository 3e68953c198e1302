// SPDX-License-Identifier: Apache-2.0
// What calls of objects are made of: how an object is found on its rank, and what runs there.
#pragma once

#include <corymb/call_rule.hpp>
#include <corymb/detail/remote_call.hpp>
#include <corymb/detail/remote_function.hpp>
#include <corymb/detail/remote_id.hpp>
#include <corymb/export.hpp>

#include <algorithm>
#include <coroutine>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <type_traits>
#include <typeinfo>
#include <utility>
#include <vector>

namespace corymb {

template <class T>
class Remote;

namespace detail {

/// What a call asks of its object.
struct ObjectAccess {
    CallRule rule = CallRule::interleaved;
    bool is_only_if_exclusive = false; ///< The rule holds if the object is exclusive.
    std::size_t count = 1;             ///< Elements that are used.
};

class EnterAwait;
/// A call that waits to enter its object, or has waited.
struct ObjectEntry {
    CallRule rule;
    bool is_in = false;
    EnterAwait* waits = nullptr; ///< Null: nobody is to be woken.
};

/// Keeps an object while a call of it runs, and others out, as the rule of the call says.
class CORYMB_EXPORT ObjectUse {
public:
    /// Throws Errc::invalid_argument if there is no such object here, it is no `type`, or there are
    /// too few from there on; Errc::deadlock if the chain of calls holds the object that this one
    /// would wait for.
    ObjectUse(RemoteState& here, const RemoteId& id, const std::type_info& type,
              const ObjectAccess& access = {});
    ObjectUse(ObjectUse&& other) noexcept;
    ObjectUse& operator=(ObjectUse&&) = delete;
    ~ObjectUse();
    [[nodiscard]] void* object() const noexcept { return object_; }
    [[nodiscard]] std::uint32_t slot() const noexcept { return slot_; }
    /// Where a part of the object begins: see RemoteId.
    [[nodiscard]] std::uint64_t offset_of(const void* part) const noexcept;

    [[nodiscard]] bool is_in() const noexcept { return entry_ == nullptr || entry_->is_in; }
    /// For co_await, if it is not in: until the calls before it have left.
    [[nodiscard]] EnterAwait enter() const noexcept;
    /// What the task of this call begins belongs to it. Whether the call excludes others.
    [[nodiscard]] bool join_chain(const RemoteId& id) const;
    /// The call has ended.
    void leave() noexcept;

private:
    RemoteState* here_;
    std::uint32_t slot_;
    CallRule rule_ = CallRule::interleaved; ///< As it holds.
    void* object_;
    std::unique_ptr<ObjectEntry> entry_; ///< Null: it entered at once.
};

class CORYMB_EXPORT EnterAwait final : public Suspension {
public:
    explicit EnterAwait(ObjectEntry& entry) noexcept : entry_(&entry) {}
    ~EnterAwait() {
        if (is_waiting()) {
            withdraw();
        }
    }
    static constexpr bool await_ready() noexcept { return false; }
    template <TaskPromiseOf P>
    void await_suspend(std::coroutine_handle<P> awaiting) {
        begin(*awaiting.promise().strand, awaiting, what);
        entry_->waits = this;
    }
    void await_resume() const { require_not_stopped(what); }
    [[nodiscard]] Awaited awaited() const noexcept override { return {nullptr, entry_, -1, 0}; }

private:
    static constexpr const char* what = "the calls of an object that exclude it";
    void withdraw() noexcept override { entry_->waits = nullptr; }
    ObjectEntry* entry_;
};
inline EnterAwait ObjectUse::enter() const noexcept {
    return EnterAwait(*entry_);
}

using Delete = void (*)(void* object);
/// An object, or elements one behind the other.
struct NewObject {
    void* first = nullptr;
    const std::type_info* type = nullptr; ///< An element's.
    std::size_t bytes = 0;                ///< An element's.
    std::size_t count = 1;
    Delete end = nullptr; ///< Null: it belongs to somebody else.
    bool is_exclusive = false;
};
/// Puts an object into the table of a rank.
CORYMB_EXPORT RemoteId adopt(RemoteState& here, const NewObject& object);
/// Takes an object out of the table of this rank, and ends it when no call of it runs any more.
/// Throws as ObjectUse.
CORYMB_EXPORT void abandon(RemoteState& here, const RemoteId& id);
/// In a task.
[[nodiscard]] CORYMB_EXPORT RemoteState& remote_state_here();
/// The object, if it is here; else null. Throws as ObjectUse if it is gone.
CORYMB_EXPORT void* local_object(const RemoteId& id, const std::type_info& type);

/// What `create` makes.
template <class T>
NewObject made_object(T* object) {
    return {
        object,         &typeid(T), sizeof(T), 1, [](void* made) { delete static_cast<T*>(made); },
        is_exclusive<T>};
}

template <class T>
inline constexpr bool is_span = false;
template <class T, std::size_t N>
inline constexpr bool is_span<std::span<T, N>> = true;

/// From an object to its base or member, as it is found on the object's rank.
class CORYMB_EXPORT Subobject {
public:
    struct Step {
        void* (*take)(void* object);
        bool is_base;
    };
    Subobject(const std::type_info& from, const std::type_info& to, const Step& step);
    Subobject(const Subobject&) = delete;
    Subobject& operator=(const Subobject&) = delete;
    ~Subobject();

private:
    const char* from_;
    const char* to_;
};
template <class Derived, class Base>
inline const Subobject upcast{
    typeid(Derived),
    typeid(Base),
    {[](void* object) -> void* { return static_cast<Base*>(static_cast<Derived*>(object)); },
     true}};

template <class M>
struct MemberOf;
template <class T, class M>
struct MemberOf<M T::*> {
    using Class = T;
    using Type = M;
};
template <auto Member>
inline const Subobject member{typeid(typename MemberOf<decltype(Member)>::Class),
                              typeid(typename MemberOf<decltype(Member)>::Type),
                              {[](void* object) -> void* {
                                   using Class = typename MemberOf<decltype(Member)>::Class;
                                   return std::addressof(static_cast<Class*>(object)->*Member);
                               },
                               false}};

// How objects are called: see RemoteCall.

template <class Method>
inline constexpr bool is_const_method = false;
template <class R, class T, class... A>
inline constexpr bool is_const_method<R (T::*)(A...) const> = true;
template <class R, class T, class... A>
inline constexpr bool is_const_method<R (T::*)(A...) const noexcept> = true;
template <class R, class T, class... A>
inline constexpr bool is_const_method<R (T::*)(A...) const&> = true;
template <class R, class T, class... A>
inline constexpr bool is_const_method<R (T::*)(A...) const & noexcept> = true;

template <auto Method>
constexpr ObjectAccess access_of() {
    if constexpr (call_rule<Method> != CallRule::of_object) {
        return {call_rule<Method>, false, 1};
    } else {
        return {is_const_method<decltype(Method)> ? CallRule::shared : CallRule::exclusive, true,
                1};
    }
}

template <class T, auto Method>
struct MethodRun {
    ObjectUse use;
    RemoteId id;
    template <class... A>
    decltype(auto) operator()(A&&... arguments) {
        // Named, since gcc 12 takes the step to a base within ->* for a pun.
        typename MemberOf<decltype(Method)>::Class& object = *static_cast<T*>(use.object());
        return (object.*Method)(std::forward<A>(arguments)...);
    }
};
template <class T, auto Method>
struct MethodWay {
    using Head = CalledObject;
    static MethodRun<T, Method> prepare(RemoteState& here, const CalledObject& of) {
        return {ObjectUse(here, of.id, typeid(T), access_of<Method>()), of.id};
    }
};
template <class T>
struct FunctionOnObjectRun {
    ObjectUse use;
    RemoteId id;
    template <class F, class... A>
    decltype(auto) operator()(F&& function, A&&... arguments) {
        return function(*static_cast<T*>(use.object()), std::forward<A>(arguments)...);
    }
};
/// The first argument is a function object f(T&, arguments...).
template <class T, CallRule Rule = CallRule::exclusive>
struct FunctionOnObjectWay {
    using Head = CalledObject;
    static FunctionOnObjectRun<T> prepare(RemoteState& here, const CalledObject& of) {
        return {ObjectUse(here, of.id, typeid(T), {Rule, true, 1}), of.id};
    }
};
/// What runs on this element and those behind it.
template <class T>
struct ElementsRun {
    ObjectUse use; ///< The first one.
    RemoteId id;
    RemoteState* here;
    std::vector<T> operator()(std::uint64_t count) {
        const T* const first = require(static_cast<std::size_t>(count));
        return std::vector<T>(first, first + count);
    }
    void operator()(std::span<const T> values) {
        std::copy(values.begin(), values.end(), require(values.size()));
    }

private:
    /// Throws Errc::invalid_argument if there are too few.
    T* require(std::size_t count) {
        const ObjectUse all(*here, id, typeid(T), {.count = count});
        return static_cast<T*>(all.object());
    }
};
/// Copies elements as a call that reads, or assigns to them as one that writes.
template <class T, CallRule Rule>
struct ElementsWay {
    using Head = CalledObject;
    static ElementsRun<T> prepare(RemoteState& here, const CalledObject& of) {
        return {ObjectUse(here, of.id, typeid(T), {Rule, true, 1}), of.id, &here};
    }
};
/// Gives the name of a member.
template <class T, auto Member>
struct MemberWay {
    using Head = CalledObject;
    static auto prepare(RemoteState& here, const CalledObject& of) {
        static_cast<void>(&member<Member>);
        return [use = ObjectUse(here, of.id, typeid(T)), of]() {
            RemoteId id = of.id;
            id.offset = use.offset_of(std::addressof(static_cast<T*>(use.object())->*Member));
            return id;
        };
    }
};
struct DestroyWay {
    using Head = CalledObject;
    static auto prepare(RemoteState& here, const CalledObject& of) {
        return [&here, of] {
            abandon(here, of.id);
        };
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

template <class T>
struct MakingWay {
    using Head = NoHead;
    static auto prepare(RemoteState& here, NoHead /*none*/) {
        return [&here](auto&&... arguments) {
            auto made = std::make_unique<T>(std::forward<decltype(arguments)>(arguments)...);
            const RemoteId id = adopt(here, made_object(made.get()));
            static_cast<void>(made.release());
            return RemoteAccess::pointer<T>(id);
        };
    }
};

/// The pointer to a member, when its name has come.
template <class T, auto Member>
class MemberAwait {
public:
    using Type = typename MemberOf<decltype(Member)>::Type;
    explicit MemberAwait(const RemoteId& of) : call_(of.rank, Asked(CalledObject{of})) {}
    static constexpr bool await_ready() noexcept { return false; }
    template <TaskPromiseOf P>
    bool await_suspend(std::coroutine_handle<P> awaiting) {
        return call_.await_suspend(awaiting);
    }
    Remote<Type> await_resume() { return RemoteAccess::pointer<Type>(call_.await_resume()); }

private:
    using Asked = RemoteCall<MemberWay<T, Member>>;
    CallAwait<Asked> call_;
};

} // namespace detail
} // namespace corymb

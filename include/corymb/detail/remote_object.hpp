// SPDX-License-Identifier: Apache-2.0
// What calls of objects are made of: how an object is found on its rank, and what runs there.
#pragma once

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

/// Keeps an object while a call of it runs.
class CORYMB_EXPORT ObjectUse {
public:
    /// Throws Errc::invalid_argument if there is no such object here, it is no `type`, or there are
    /// fewer than `count` from there on.
    ObjectUse(RemoteState& here, const RemoteId& id, const std::type_info& type,
              std::size_t count = 1);
    ObjectUse(ObjectUse&& other) noexcept;
    ObjectUse& operator=(ObjectUse&&) = delete;
    ~ObjectUse();
    [[nodiscard]] void* object() const noexcept { return object_; }
    /// Where a part of the object begins: see RemoteId.
    [[nodiscard]] std::uint64_t offset_of(const void* part) const noexcept;

private:
    RemoteState* here_;
    std::uint32_t slot_;
    void* object_;
};

using Delete = void (*)(void* object);
/// An object, or elements one behind the other.
struct NewObject {
    void* first = nullptr;
    const std::type_info* type = nullptr; ///< An element's.
    std::size_t bytes = 0;                ///< An element's.
    std::size_t count = 1;
    Delete end = nullptr; ///< Null: it belongs to somebody else.
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

// How objects are called: see Call.

template <class T, auto Method>
struct MethodWay {
    using Head = CalledObject;
    static auto prepare(RemoteState& here, const CalledObject& of) {
        return [use = ObjectUse(here, of.id, typeid(T))](auto&&... arguments) -> decltype(auto) {
            return (static_cast<T*>(use.object())->*Method)(
                std::forward<decltype(arguments)>(arguments)...);
        };
    }
};
/// The first argument is a function object f(T&, arguments...).
template <class T>
struct FunctionOnObjectWay {
    using Head = CalledObject;
    static auto prepare(RemoteState& here, const CalledObject& of) {
        return [use = ObjectUse(here, of.id, typeid(T))](auto&& function,
                                                         auto&&... arguments) -> decltype(auto) {
            return function(*static_cast<T*>(use.object()),
                            std::forward<decltype(arguments)>(arguments)...);
        };
    }
};
template <class T>
struct CopyWay {
    using Head = CalledObject;
    static auto prepare(RemoteState& here, const CalledObject& of) {
        return [&here, of](std::uint64_t count) {
            const ObjectUse use(here, of.id, typeid(T), static_cast<std::size_t>(count));
            const auto* const first = static_cast<const T*>(use.object());
            return std::vector<T>(first, first + count);
        };
    }
};
template <class T>
struct AssignWay {
    using Head = CalledObject;
    static auto prepare(RemoteState& here, const CalledObject& of) {
        return [&here, of](std::span<const T> values) {
            const ObjectUse use(here, of.id, typeid(T), values.size());
            std::copy(values.begin(), values.end(), static_cast<T*>(use.object()));
        };
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
            const RemoteId id =
                adopt(here, {made.get(), &typeid(T), sizeof(T), 1, [](void* object) {
                                 delete static_cast<T*>(object);
                             }});
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
    using Asked = Call<MemberWay<T, Member>>;
    CallAwait<Asked> call_;
};

} // namespace detail
} // namespace corymb

// SPDX-License-Identifier: Apache-2.0
// How an object moves to another rank: what travels, and what the calls of a move are made of.
// src/remote/migrations.hpp has the steps.
#pragma once

#include <corymb/detail/remote_call.hpp>
#include <corymb/detail/remote_codec.hpp>
#include <corymb/detail/remote_object.hpp>
#include <corymb/export.hpp>
#include <corymb/rank.hpp>
#include <corymb/task.hpp>

#include <coroutine>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <type_traits>
#include <typeinfo>

namespace corymb {

namespace detail {

/// What an object keeps when it moves.
struct Arrival {
    RemoteId id;
    std::uint64_t moves = 0; ///< With this one.
};
/// An object on its way: written where it lies, read as a new one.
template <class T>
struct MovingObject {
    const T* object;
};

} // namespace detail

template <class T>
struct RemoteCodec<detail::MovingObject<T>> {
    static std::size_t size(const detail::MovingObject<T>& of) {
        return RemoteCodec<T>::size(*of.object);
    }
    static void write(RemoteWriter& to, const detail::MovingObject<T>& of) {
        RemoteCodec<T>::write(to, *of.object);
    }
    static std::unique_ptr<T> read(RemoteReader& from) {
        return std::unique_ptr<T>(new T(RemoteCodec<T>::read(from)));
    }
};

namespace detail {

/// Sends an object to the rank `to`; `waits` learns whether it is there.
CORYMB_EXPORT void send_object(RemoteState& here, Rank to, AnswerTaker& waits,
                               const RemoteFunction& function, std::size_t bytes,
                               const Reply::Writes& write);
/// An object has come. It is called when the rank that it comes from has let go of it.
CORYMB_EXPORT void take_object(RemoteState& here, const Arrival& arrival, const NewObject& object);

template <class T>
struct ArrivalWay {
    using Head = Arrival;
    static auto prepare(RemoteState& here, const Arrival& arrival) {
        // Asked with a MovingObject for its result, and called with what is read for one.
        return [&here, arrival]<class Moved>(Moved&& moved) -> void {
            if constexpr (std::is_same_v<std::remove_cvref_t<Moved>, std::unique_ptr<T>>) {
                take_object(here, arrival, made_object(moved.get()));
                static_cast<void>(moved.release());
            }
        };
    }
};

/// How objects of one type are sent.
struct MovableType {
    const std::type_info* type;
    void (*send)(RemoteState& here, Rank to, AnswerTaker& waits, const Arrival& arrival,
                 const void* object);
};
template <class T>
inline constexpr MovableType movable{
    &typeid(T),
    [](RemoteState& here, Rank to, AnswerTaker& waits, const Arrival& arrival, const void* object) {
        using What = RemoteCall<ArrivalWay<T>, MovingObject<T>>;
        const What what(arrival, MovingObject<T>{static_cast<const T*>(object)});
        send_object(here, to, waits, What::function(), what.size(), Reply::Writes(what));
    }};

/// The turn of a move among the calls of its object: behind those that came before, and in front of
/// those that come behind.
class CORYMB_EXPORT MoveTurn {
public:
    /// Throws Errc::invalid_argument if the object is none that can move, and as ObjectUse.
    MoveTurn(RemoteState& here, const RemoteId& id, const MovableType& type);
    MoveTurn(MoveTurn&& other) noexcept;
    MoveTurn& operator=(MoveTurn&&) = delete;
    ~MoveTurn();
    /// Moves the object. The turn outlives the task.
    Task<> move(Rank to);

private:
    struct Parts;
    std::unique_ptr<Parts> parts_;
};

template <class T>
struct MoveRun {
    MoveTurn turn;
    Task<> operator()(Rank to) { return turn.move(to); }
};
template <class T>
struct MoveWay {
    using Head = CalledObject;
    static MoveRun<T> prepare(RemoteState& here, const CalledObject& of) {
        return {MoveTurn(here, of.id, movable<T>)};
    }
};

/// Throws Errc::deadlock if the task runs a method of that object.
CORYMB_EXPORT void require_no_method_of(const Strand& own, const RemoteId& object);

/// A move, which a task awaits.
template <class T>
class MoveAwait {
public:
    MoveAwait(const RemoteId& of, Rank to) : id_(of), call_(of.rank, Asked(CalledObject{of}, to)) {}
    static constexpr bool await_ready() noexcept { return false; }
    template <TaskPromiseOf P>
    bool await_suspend(std::coroutine_handle<P> awaiting) {
        require_no_method_of(*awaiting.promise().strand, id_);
        return call_.await_suspend(awaiting);
    }
    void await_resume() { call_.await_resume(); }

private:
    using Asked = RemoteCall<MoveWay<T>, Rank>;
    RemoteId id_;
    CallAwait<Asked> call_;
};

} // namespace detail
} // namespace corymb

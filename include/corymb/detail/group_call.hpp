// SPDX-License-Identifier: Apache-2.0
// How a call of the members of a group travels.
#pragma once

#include <corymb/detail/group_list.hpp>
#include <corymb/detail/group_results.hpp>
#include <corymb/detail/now_or_later.hpp>
#include <corymb/finish.hpp>
#include <corymb/rank.hpp>
#include <corymb/remote.hpp>
#include <corymb/remote_object.hpp>
#include <corymb/scheduler.hpp>
#include <corymb/task.hpp>
#include <corymb/this_task.hpp>

#include <cstddef>
#include <cstdint>
#include <exception>
#include <optional>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

namespace corymb::detail {

/// The predicate of a call of all members.
struct Everyone {
    template <class T>
    constexpr bool operator()(const T& /*member*/) const noexcept {
        return true;
    }
};
template <class P, class Q>
struct Both {
    P p;
    Q q;
    template <class T>
    bool operator()(const T& member) const {
        return p(member) && q(member);
    }
};
template <class T, auto Method>
struct MethodOn {
    template <class... A>
    decltype(auto) operator()(T& object, A&&... arguments) const {
        return (object.*Method)(std::forward<A>(arguments)...);
    }
};
/// In place of a function: gives the member itself, which its rank knows.
struct MemberItself {};

/// What travels with a call.
template <class P, class F, class Op>
struct GroupCall {
    P predicate;
    F f;
    Op op;
};

template <class F, class T, class... A>
struct ResultOfMember {
    using Returned = std::invoke_result_t<F&, T&, const A&...>;
    using Type = typename ResultOf<Returned>::Type;
    static constexpr bool is_of_task = is_task<Returned>;
};
template <class T, class... A>
struct ResultOfMember<MemberItself, T, A...> {
    using Type = GroupMember;
    static constexpr bool is_of_task = false;
};

template <class T, class P, class F, class Op, class... A>
typename PartialOf<Op, typename ResultOfMember<F, T, A...>::Type>::Type
partial_of(const GroupCall<P, F, Op>&, const A&...); // For its type.
template <class T, class Call, class... A>
using Partial = decltype(partial_of<T>(std::declval<const Call&>(), std::declval<const A&>()...));

/// The result of one member; none if it was not called.
template <class R>
using Slot = std::optional<std::conditional_t<std::is_void_v<R>, bool, R>>;

template <class R, class T, class Call, class... A>
Slot<R> call_at_once(T& object, const Call& call, const A&... arguments) {
    if (!call.predicate(std::as_const(object))) {
        return std::nullopt;
    }
    auto f = call.f; // A member never sees what another one has done to the function's state.
    if constexpr (std::is_same_v<decltype(f), MemberItself>) {
        return GroupMember();
    } else if constexpr (std::is_void_v<R>) {
        f(object, arguments...);
        return true;
    } else {
        return Slot<R>(std::in_place, f(object, arguments...));
    }
}
template <class R, class T, class Call, class... A>
Task<Slot<R>> call_as_task(T& object, Call call, A... arguments) {
    Slot<R> result;
    if (call.predicate(std::as_const(object))) {
        if constexpr (std::is_void_v<R>) {
            co_await call.f(object, std::as_const(arguments)...);
            result = true;
        } else {
            result.emplace(co_await call.f(object, std::as_const(arguments)...));
        }
    }
    co_return result;
}
/// What runs on a member's object, in a call of it.
template <class T, class Call, class... A>
struct MemberFunction {
    using Of = ResultOfMember<decltype(Call::f), T, A...>;
    using R = typename Of::Type;
    using Returned = std::conditional_t<Of::is_of_task, Task<Slot<R>>, Slot<R>>;
    Call call;
    Returned operator()(T& object, A... arguments) const {
        if constexpr (Of::is_of_task) {
            return call_as_task<R, T, Call, A...>(object, call, std::move(arguments)...);
        } else {
            return call_at_once<R>(object, call, arguments...);
        }
    }
};

template <class F>
inline constexpr ObjectAccess access_of_member{CallRule::exclusive, true, 1};
template <class T, auto Method>
inline constexpr ObjectAccess access_of_member<MethodOn<T, Method>> = access_of<Method>();
template <>
inline constexpr ObjectAccess access_of_member<MemberItself>{CallRule::shared, true, 1};
/// Whether a call may have to wait for others of its object.
template <class T, class F>
inline constexpr bool takes_turns = access_of_member<F>.rule != CallRule::interleaved &&
                                    (is_exclusive<T> || !access_of_member<F>.is_only_if_exclusive);

template <class T, class F>
struct GroupMemberWay {
    using Head = CalledObject;
    static FunctionOnObjectRun<T> prepare(RemoteState& here, const CalledObject& of) {
        return {ObjectUse(here, of.id, typeid(T), access_of_member<F>), of.id};
    }
};
/// As a call of the object: it waits for its turn, or for an object that is not there yet.
template <class T, class Call, class R, class... A>
Task<> call_in_turn(GroupMember member, const Call& call, Slot<R>& result, const A&... arguments) {
    using F = decltype(Call::f);
    using Function = MemberFunction<T, Call, A...>;
    using What = RemoteCall<GroupMemberWay<T, F>, Function, A...>;
    Slot<R> one = co_await CallAwait<What>(
        member.id.rank, What(CalledObject{member.id}, Function{call}, arguments...));
    if (one.has_value()) {
        result.emplace(std::move(*one));
    }
}
/// Whether the object is there, and was called.
template <class T, class Call, class R, class... A>
bool call_here(const GroupMember& member, const Call& call, Slot<R>& result,
               std::vector<std::exception_ptr>& thrown, const A&... arguments) {
    std::optional<ObjectUse> use;
    try {
        use.emplace(remote_state_here(), member.id, typeid(T));
    } catch (const Error&) { // `call_in_turn` waits for it, or says why not.
        return false;
    }
    try {
        const OutsideOfTasks here(running_strand());
        Slot<R> one = call_at_once<R>(*static_cast<T*>(use->object()), call, arguments...);
        if (one.has_value()) {
            result.emplace(std::move(*one));
        }
    } catch (...) {
        thrown.push_back(std::current_exception());
    }
    return true;
}
/// The members of this rank, whose results go to `results`.
template <class T, class Call, class R, class... A>
Task<> call_members(const GroupPart& part, const Call& call, std::vector<Slot<R>>& results,
                    const A&... arguments) {
    using F = decltype(Call::f);
    std::vector<std::exception_ptr> thrown;
    for (std::size_t i = 0; i < part.members.size(); ++i) {
        bool is_called = false;
        if constexpr (!ResultOfMember<F, T, A...>::is_of_task && !takes_turns<T, F>) {
            is_called = call_here<T, Call, R, A...>(part.members[i], call, results[i], thrown,
                                                    arguments...);
        }
        if (!is_called) {
            spawn(call_in_turn<T, Call, R, A...>(part.members[i], call, results[i], arguments...));
        } else if (is_pause_due()) {
            co_await this_task::yield();
        }
    }
    if (!thrown.empty()) {
        throw_all(std::move(thrown));
    }
}

template <class T, class Call, class... A>
Task<Partial<T, Call, A...>> call_part(GroupPartOwner part, Call call, A... arguments);

/// Travels to a branch.
template <class T, class Call, class... A>
struct CallOfPart {
    GroupListId list;
    Call call;
    Task<Partial<T, Call, A...>> operator()(std::span<const GroupMember> members, A... arguments) {
        return call_part<T, Call, A...>(part_here(list, members), call, std::move(arguments)...);
    }
};
template <class T, class Call, class Result, class... A>
Task<> call_branch(GroupPart& part, std::size_t index, const Call& call, Result& result,
                   const A&... arguments) {
    GroupPart::Branch& branch = part.branches[index];
    branch.was_told = true;
    result = co_await at(branch.rank, CallOfPart<T, Call, A...>{part.list, call},
                         std::span<const GroupMember>(branch.members), arguments...);
    branch.members.clear(); // It has them.
}

/// One rank's share of a call: the branches and the rank's own members.
template <class T, class Call, class... A>
Task<Partial<T, Call, A...>> call_part(GroupPartOwner part, Call call, A... arguments) {
    using Result = Partial<T, Call, A...>;
    using R = typename ResultOfMember<decltype(call.f), T, A...>::Type;
    std::vector<Slot<R>> own(part->members.size());
    std::vector<Result> behind(part->branches.size());
    co_await finish([&]() -> Task<> {
        for (std::size_t i = 0; i < behind.size(); ++i) {
            spawn(call_branch<T, Call, Result, A...>(*part, i, call, behind[i], arguments...));
        }
        if (!behind.empty()) {
            co_await this_task::yield(); // The messages go first.
        }
        co_await call_members<T, Call, R, A...>(*part, call, own, arguments...);
    });
    Result all{};
    for (std::size_t i = 0; i < own.size(); ++i) {
        if constexpr (std::is_same_v<decltype(Call::f), MemberItself>) {
            own[i] = own[i].has_value() ? std::optional(part->members[i]) : std::nullopt;
        }
        join_one(all, part->members[i].index, std::move(own[i]), call.op);
    }
    for (std::size_t i = behind.size(); i-- > 0;) { // The nearest first.
        join(all, std::move(behind[i]), call.op);
    }
    co_return all;
}

/// Travels to the home of a group.
template <class T, class Call, class... A>
struct CallAtHome {
    GroupId group;
    Call call;
    Task<Partial<T, Call, A...>> operator()(A... arguments) {
        return call_part<T, Call, A...>(part_at_home(group), call, std::move(arguments)...);
    }
};
template <class T, class Call, class... A>
Task<Partial<T, Call, A...>> call_group(GroupId group, Call call, A... arguments) {
    require_group(group);
    CallAtHome<T, Call, A...> at_home{group, call};
    if (group.home == here()) {
        co_return co_await at_home(std::move(arguments)...);
    }
    co_return co_await at(group.home, at_home, arguments...);
}

template <class T, class Call, class... A>
Task<> step_group(GroupId group, Call call, A... arguments) {
    co_await call_group<T, Call, A...>(group, call, std::move(arguments)...);
}
template <class R, class T, class Call, class... A>
Task<R> reduce_group(GroupId group, Call call, A... arguments) {
    std::optional<R> sum =
        whole_of(co_await call_group<T, Call, A...>(group, call, std::move(arguments)...));
    if (!sum.has_value()) {
        refuse_no_members();
    }
    co_return std::move(*sum);
}
template <class R, class T, class Call, class... A>
Task<std::vector<R>> gather_group(GroupId group, Call call, A... arguments) {
    std::optional<std::vector<R>> all =
        whole_of(co_await call_group<T, Call, A...>(group, call, std::move(arguments)...));
    co_return all.has_value() ? std::move(*all) : std::vector<R>();
}
} // namespace corymb::detail

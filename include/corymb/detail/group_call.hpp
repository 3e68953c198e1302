// SPDX-License-Identifier: Apache-2.0
// How a call of the members of a group travels, and what becomes of their results.
#pragma once

#include <corymb/detail/group_list.hpp>
#include <corymb/detail/now_or_later.hpp>
#include <corymb/error.hpp>
#include <corymb/finish.hpp>
#include <corymb/operators.hpp>
#include <corymb/rank.hpp>
#include <corymb/remote.hpp>
#include <corymb/remote_object.hpp>
#include <corymb/scheduler.hpp>
#include <corymb/task.hpp>
#include <corymb/this_task.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <iterator>
#include <numeric>
#include <optional>
#include <span>
#include <stop_token>
#include <type_traits>
#include <utility>
#include <variant>
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

// What becomes of results: dropped, one behind the other, or combined by an operator.
struct DropResults {};
struct Concatenate {
    template <class Row>
    Row operator()(Row&& a, Row&& b) const {
        a.insert(a.end(), std::make_move_iterator(b.begin()), std::make_move_iterator(b.end()));
        return std::move(a);
    }
};

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

/// The combined result of the members `first` to `last` - 1, in their order.
template <class R>
struct ResultRun {
    static_assert(!std::is_trivially_copyable_v<R> || is_plain_data<R>,
                  "the result of a member points to its data: give the data itself");
    std::uint32_t first = 0;
    std::uint32_t last = 0;
    std::optional<R> value{}; ///< None: none of them was called.
};
/// Invariant: ordered by member, and no two are neighbours.
template <class R>
using ResultRuns = std::vector<ResultRun<R>>;

/// The results of some members, by operator.
template <class Op, class R>
struct PartialOf {
    using Type = std::conditional_t<takes_any_order<R, Op>(), std::optional<R>, ResultRuns<R>>;
};
template <class R>
struct PartialOf<DropResults, R> {
    using Type = std::monostate;
};
template <class R>
struct PartialOf<Concatenate, R> {
    using Type = ResultRuns<std::vector<R>>;
};
template <class T, class P, class F, class Op, class... A>
typename PartialOf<Op, typename ResultOfMember<F, T, A...>::Type>::Type
partial_of(const GroupCall<P, F, Op>&, const A&...); // For its type.
template <class T, class Call, class... A>
using Partial = decltype(partial_of<T>(std::declval<const Call&>(), std::declval<const A&>()...));

template <class R, class Op>
void join(std::optional<R>& sum, std::optional<R>&& more, Op& op) {
    if (sum.has_value() && more.has_value()) {
        sum = op(std::move(*sum), std::move(*more));
    } else if (more.has_value()) {
        sum = std::move(more);
    }
}
template <class R, class Op>
void join(ResultRuns<R>& runs, ResultRuns<R>&& more, Op& op) {
    ResultRuns<R> sorted;
    sorted.reserve(runs.size() + more.size());
    std::merge(std::make_move_iterator(runs.begin()), std::make_move_iterator(runs.end()),
               std::make_move_iterator(more.begin()), std::make_move_iterator(more.end()),
               std::back_inserter(sorted),
               [](const ResultRun<R>& a, const ResultRun<R>& b) { return a.first < b.first; });
    runs.clear();
    for (ResultRun<R>& run : sorted) {
        if (runs.empty() || runs.back().last != run.first) {
            runs.push_back(std::move(run));
        } else {
            runs.back().last = run.last;
            join(runs.back().value, std::move(run.value), op);
        }
    }
}
template <class Op>
void join(std::monostate& /*none*/, std::monostate&& /*more*/, Op& /*op*/) noexcept {}

/// The result of one member as a partial result.
template <class R, class Op>
void join_one(std::optional<R>& sum, std::uint32_t /*index*/, std::optional<R>&& one, Op& op) {
    join(sum, std::move(one), op);
}
template <class R, class Op>
void join_one(ResultRuns<R>& runs, std::uint32_t index, std::optional<R>&& one, Op& op) {
    if (!runs.empty() && runs.back().last == index) {
        runs.back().last = index + 1;
        join(runs.back().value, std::move(one), op);
    } else {
        runs.push_back({index, index + 1, std::move(one)});
    }
}
template <class R>
void join_one(ResultRuns<std::vector<R>>& rows, std::uint32_t index, std::optional<R>&& one,
              Concatenate& /*op*/) {
    if (rows.empty() || rows.back().last != index) {
        rows.push_back({index, index, std::vector<R>()});
    }
    rows.back().last = index + 1;
    if (one.has_value()) {
        rows.back().value->push_back(std::move(*one));
    }
}
template <class R>
void join_one(std::monostate& /*none*/, std::uint32_t /*index*/, std::optional<R>&& /*one*/,
              DropResults& /*op*/) noexcept {}

/// The result of all.
template <class R>
std::optional<R> whole_of(std::optional<R>&& sum) {
    return std::move(sum);
}
template <class R>
std::optional<R> whole_of(ResultRuns<R>&& runs) {
    return runs.empty() ? std::nullopt : std::move(runs.front().value);
}

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
template <class R, class Op>
Task<std::vector<R>> scan_results(Task<std::vector<R>> gathered, Op op) {
    std::vector<R> all = co_await std::move(gathered);
    std::inclusive_scan(all.begin(), all.end(), all.begin(), op);
    co_return all;
}
template <class R, class Op>
Task<std::vector<R>> scan_results_before(Task<std::vector<R>> gathered, R first, Op op) {
    std::vector<R> all = co_await std::move(gathered);
    std::exclusive_scan(all.begin(), all.end(), all.begin(), std::move(first), op);
    co_return all;
}

/// What must be done to its end: a stop of the awaiting task does not reach it.
inline Task<> to_its_end(Task<> task) {
    co_await finish([&task] { static_cast<void>(spawn(std::move(task), std::stop_token())); });
}
/// In a handler: throws it again, unless a rank has gone.
inline void require_rank_gone(const Error& thrown) {
    if (thrown.code() != Errc::team_broken) {
        throw;
    }
}

/// Travels along the branches that have been told of a list.
template <class T>
struct ForgetList {
    GroupListId list;
    /// A rank that is not told keeps its part.
    static Task<> tell(GroupPartOwner part) { return to_its_end(tell_branches(std::move(part))); }
    static Task<> tell_branches(GroupPartOwner part) {
        for (const GroupPart::Branch& branch : part->branches) {
            if (branch.was_told) {
                try {
                    co_await post(branch.rank, ForgetList{part->list});
                } catch (const Error& error) {
                    require_rank_gone(error);
                }
            }
        }
    }
    Task<> operator()() {
        if (GroupPartOwner part = take_part(list)) {
            co_await tell(std::move(part));
        }
    }
};
/// Travels to the home of a group.
template <class T>
struct ChangeAtHome {
    GroupId group;
    GroupChange change;
    Task<std::size_t> operator()() {
        std::size_t changed = 0;
        const UnusedParts unused = change_group(group, change, changed);
        for (const GroupPartOwner& part : unused) {
            co_await ForgetList<T>::tell(part);
        }
        co_return changed;
    }
};
/// Travels to the home of a group.
template <class T>
struct PlaceAtHome {
    GroupId group;
    Task<> operator()(std::vector<GroupMember> moved) {
        const UnusedParts unused = place_members(group, moved);
        for (const GroupPartOwner& part : unused) {
            co_await ForgetList<T>::tell(part);
        }
    }
};
template <class T>
Task<std::size_t> change_members(GroupId group, GroupChange change) {
    require_group(group);
    ChangeAtHome<T> at_home{group, change};
    if (group.home == here()) {
        co_return co_await at_home();
    }
    co_return co_await at(group.home, at_home);
}

} // namespace corymb::detail

template <class R>
    requires(!std::is_trivially_copyable_v<R>)
struct corymb::RemoteCodec<corymb::detail::ResultRun<R>> {
    using Run = detail::ResultRun<R>;
    static std::size_t size(const Run& run) {
        return detail::size_of_all(run.first, run.last, run.value);
    }
    static void write(RemoteWriter& to, const Run& run) {
        detail::write_all(to, run.first, run.last, run.value);
    }
    static Run read(RemoteReader& from) {
        Run run;
        run.first = RemoteCodec<std::uint32_t>::read(from);
        run.last = RemoteCodec<std::uint32_t>::read(from);
        run.value = RemoteCodec<std::optional<R>>::read(from);
        return run;
    }
};

// SPDX-License-Identifier: Apache-2.0
// How a call of all members of a group travels: what each rank does with its part of the members.
#pragma once

#include <corymb/export.hpp>
#include <corymb/finish.hpp>
#include <corymb/rank.hpp>
#include <corymb/remote.hpp>
#include <corymb/remote_object.hpp>
#include <corymb/scheduler.hpp>
#include <corymb/task.hpp>
#include <corymb/this_task.hpp>

#include <bit>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <type_traits>
#include <utility>
#include <vector>

namespace corymb::detail {

/// Names the members of a group, which never change.
struct GroupId {
    Rank home = -1; ///< Who knows the members; -1: there are none.
    std::uint32_t number = 0;
    std::uint32_t size = 0;
    std::uint32_t mark = 0; ///< The one of the ranks' group.
    friend auto operator<=>(const GroupId&, const GroupId&) = default;
};
/// Members `first` to `last` - 1.
struct GroupPart {
    GroupId group;
    std::uint32_t first = 0;
    std::uint32_t last = 0;
};
using Members = std::shared_ptr<const std::vector<RemoteId>>;

/// Keeps the members on this rank and gives the name of the group.
[[nodiscard]] CORYMB_EXPORT GroupId keep_members(std::vector<RemoteId> members);
/// The members, if this rank knows them; else null. Throws Errc::invalid_argument for a group of
/// other ranks.
[[nodiscard]] CORYMB_EXPORT Members known_members(const GroupId& group);
CORYMB_EXPORT void learn_members(const GroupId& group, Members members);
/// At the home of a group. Throws Errc::invalid_argument for one that is not known.
[[nodiscard]] CORYMB_EXPORT std::vector<RemoteId> give_members(const GroupId& group);
/// The members; asks the group's home for them if need be. A template, so that the program
/// registers the function that is called: the library has nothing that is destroyed at exit.
template <class Id>
Task<Members> members_of(Id group) {
    if (Members known = known_members(group)) {
        co_return known;
    }
    auto fetched = std::make_shared<const std::vector<RemoteId>>(
        co_await at<&give_members>(group.home, group));
    learn_members(group, fetched);
    co_return fetched;
}
[[noreturn]] CORYMB_EXPORT void refuse_no_members();

template <class T, auto Method>
struct MethodOn {
    template <class... A>
    decltype(auto) operator()(T& object, A&&... arguments) const {
        return (object.*Method)(std::forward<A>(arguments)...);
    }
};

/// What a call of one member gives.
template <class T, class F, class... A>
using ResultOn = typename ResultOf<std::invoke_result_t<F&, T&, A&...>>::Type;

template <class R, class F, class T, class... A>
Task<R> run_on(F& f, T& object, A&... arguments) {
    if constexpr (is_task<std::invoke_result_t<F&, T&, A&...>>) {
        co_return co_await f(object, arguments...);
    } else {
        co_return f(object, arguments...);
    }
}

// What becomes of the members' results. `run` calls one member; `add` joins the result of the
// members behind.
template <class F>
struct Step {
    F f;
    template <class T, class... A>
    using Result = void;
    template <class T, class... A>
    Task<> run(T& object, A&... arguments) {
        co_await run_on<ResultOn<T, F, A...>>(f, object, arguments...);
    }
};
template <class P, class F>
struct StepWhere {
    P predicate;
    F f;
    template <class T, class... A>
    using Result = void;
    template <class T, class... A>
    Task<> run(T& object, A&... arguments) {
        if (predicate(std::as_const(object))) {
            co_await run_on<ResultOn<T, F, A...>>(f, object, arguments...);
        }
    }
};
template <class Op, class F>
struct Combine {
    Op op;
    F f;
    template <class T, class... A>
    using Result = ResultOn<T, F, A...>;
    template <class T, class... A>
    Task<Result<T, A...>> run(T& object, A&... arguments) {
        return run_on<Result<T, A...>>(f, object, arguments...);
    }
    template <class R>
    void add(R& sum, std::type_identity_t<R>&& behind) {
        sum = op(std::move(sum), std::move(behind));
    }
};
template <class F>
struct Collect {
    F f;
    template <class T, class... A>
    using Result = std::vector<ResultOn<T, F, A...>>;
    template <class T, class... A>
    Task<Result<T, A...>> run(T& object, A&... arguments) {
        Result<T, A...> all;
        all.push_back(co_await run_on<ResultOn<T, F, A...>>(f, object, arguments...));
        co_return all;
    }
    template <class R>
    void add(R& all, std::type_identity_t<R>&& behind) {
        all.insert(all.end(), behind.begin(), behind.end());
    }
};

template <class T, class Way, class... A>
Task<typename Way::template Result<T, A...>> call_part(GroupPart part, Way way, A... arguments);

/// Travels to the first member of a part.
template <class T, class Way, class... A>
struct CallOfPart {
    GroupPart part;
    Way way;
    Task<typename Way::template Result<T, A...>> operator()(const A&... arguments) {
        return call_part<T>(part, way, arguments...);
    }
};

/// One rank's share: hands on the latter halves, then calls its own member.
template <class T, class Way, class... A>
Task<typename Way::template Result<T, A...>> call_own(const std::vector<RemoteId>& members,
                                                      GroupPart part, Way way, A... arguments) {
    using R = typename Way::template Result<T, A...>;
    using Part = std::conditional_t<std::is_void_v<R>, bool, R>;
    auto one = [](Rank to, CallOfPart<T, Way, A...> call, std::optional<Part>& result,
                  const A&... given) -> Task<> {
        if constexpr (std::is_void_v<R>) {
            co_await at(to, call, given...);
            result = true;
        } else {
            result.emplace(co_await at(to, call, given...));
        }
    };
    const auto halvings = std::bit_width(part.last - part.first) - 1;
    std::vector<std::optional<Part>> behind(static_cast<std::size_t>(halvings));
    std::optional<Part> own;
    std::size_t halves = 0;
    co_await finish([&]() -> Task<> {
        while (part.last - part.first > 1) {
            const std::uint32_t middle = part.first + (part.last - part.first) / 2;
            spawn(one(members[middle].rank,
                      CallOfPart<T, Way, A...>{{part.group, middle, part.last}, way},
                      behind[halves++], arguments...));
            part.last = middle;
        }
        const ObjectUse use(remote_state_here(), members[part.first], typeid(T));
        T& object = *static_cast<T*>(use.object());
        co_await this_task::yield(); // The messages go first.
        if constexpr (std::is_void_v<R>) {
            co_await way.run(object, arguments...);
            own = true;
        } else {
            own.emplace(co_await way.run(object, arguments...));
        }
    });
    if constexpr (!std::is_void_v<R>) {
        while (halves-- > 0) { // The nearest ones first: the order of the members.
            way.add(*own, std::move(*behind[halves]));
        }
        co_return std::move(*own);
    }
}

template <class T, class Way, class... A>
Task<typename Way::template Result<T, A...>> call_part(GroupPart part, Way way, A... arguments) {
    using R = typename Way::template Result<T, A...>;
    if (part.first == part.last) {
        if constexpr (std::is_void_v<R>) {
            co_return;
        } else {
            co_return R();
        }
    }
    const Members members = co_await members_of(part.group);
    const Rank first = (*members)[part.first].rank;
    if (first != here()) { // The caller is no member, or not the first one.
        co_return co_await at(first, CallOfPart<T, Way, A...>{part, way}, arguments...);
    }
    co_return co_await call_own<T>(*members, part, way, std::move(arguments)...);
}

template <class T, class... A>
Task<> create_into(Remote<T>& made, Rank on, A... arguments) {
    made = co_await create<T>(on, std::move(arguments)...);
}

template <class T>
Task<> destroy_quietly(Remote<T> object) {
    try {
        co_await object.destroy();
    } catch (const Error&) { // Its rank has gone.
    }
}

} // namespace corymb::detail

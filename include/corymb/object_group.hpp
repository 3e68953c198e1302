// SPDX-License-Identifier: Apache-2.0
// Groups of objects on several ranks, and calls of all of them. After TACO (Nolte, Ishikawa, Sato,
// 2001).
#pragma once

#include <corymb/array_mapping.hpp>
#include <corymb/detail/group_call.hpp>
#include <corymb/detail/group_change.hpp>
#include <corymb/detail/group_list.hpp>
#include <corymb/detail/group_making.hpp>
#include <corymb/rank.hpp>
#include <corymb/remote.hpp>
#include <corymb/remote_object.hpp>
#include <corymb/scheduler.hpp>
#include <corymb/task.hpp>

#include <compare>
#include <cstddef>
#include <functional>
#include <type_traits>
#include <utility>
#include <vector>

namespace corymb {

template <class T>
class ObjectGroup;

/// The calls of all members of a group, or of those for which a predicate holds: see `where`.
///
/// `f` is a function object f(T& member, arguments...), which travels with its state. Each member
/// is called with a copy of it. Or it is a method, as in step<&T::method>(arguments...). It may
/// give a Task, which runs on the member's rank and may call groups in turn. Members of one rank
/// run one at a time between two awaits.
///
/// A call goes to the rank that has made the group, which reads the list of members. From there it
/// travels a binary tree over the ranks that have members: one message and one answer for each,
/// whatever number of members it has, about log2(ranks) of them in a row. Predicates and arguments
/// travel along. Results are combined on the way back.
///
/// Throws as `at`: the exception of a member, or TaskErrors if several have failed; the others are
/// called all the same. Errc::team_broken names a rank that has ended. Members on ranks behind it
/// in the tree may not have been called.
template <class T, class P = detail::Everyone>
class GroupCalls {
public:
    /// Calls and waits.
    template <class F, class... A>
    [[nodiscard]] Task<> step(F f, A... arguments) const {
        return detail::step_group<T>(id_, call_of(f, detail::DropResults()),
                                     detail::Sent<A>(std::move(arguments))...);
    }
    template <auto Method, class... A>
    [[nodiscard]] Task<> step(A... arguments) const {
        return step(detail::MethodOn<T, Method>(), std::move(arguments)...);
    }
    /// Calls without waiting: in a task, spawns `step`.
    template <class F, class... A>
    Spawned<void> map(F f, A... arguments) const {
        return spawn(step(f, std::move(arguments)...));
    }
    template <auto Method, class... A>
    Spawned<void> map(A... arguments) const {
        return spawn(step<Method>(std::move(arguments)...));
    }
    /// Gives the results combined: op(op(first, second), third) and so on. `op` is associative:
    /// brackets may stand anywhere. The order of the members is kept unless `op` is known or said
    /// to be commutative (`corymb::commutative(op)`). Throws Errc::invalid_argument if no member
    /// was called.
    template <class Op, class F, class... A>
    [[nodiscard]] auto reduce(Op op, F f, A... arguments) const {
        static_assert(detail::is_object_that_travels<Op>());
        return detail::reduce_group<Result<F, A...>, T>(id_, call_of(f, op),
                                                        detail::Sent<A>(std::move(arguments))...);
    }
    template <auto Method, class Op, class... A>
    [[nodiscard]] auto reduce(Op op, A... arguments) const {
        return reduce(op, detail::MethodOn<T, Method>(), std::move(arguments)...);
    }
    /// Gives the results, in the order of the members.
    template <class F, class... A>
    [[nodiscard]] auto gather(F f, A... arguments) const {
        return detail::gather_group<Result<F, A...>, T>(id_, call_of(f, detail::Concatenate()),
                                                        detail::Sent<A>(std::move(arguments))...);
    }
    template <auto Method, class... A>
    [[nodiscard]] auto gather(A... arguments) const {
        return gather(detail::MethodOn<T, Method>(), std::move(arguments)...);
    }
    /// Gives for each member the results of the members up to it combined, in their order. Takes a
    /// gather, and as many combinations as there are members on this rank.
    template <class Op, class F, class... A>
    [[nodiscard]] auto scan(Op op, F f, A... arguments) const {
        return detail::scan_results(gather(f, std::move(arguments)...), op);
    }
    template <auto Method, class Op, class... A>
    [[nodiscard]] auto scan(Op op, A... arguments) const {
        return scan(op, detail::MethodOn<T, Method>(), std::move(arguments)...);
    }
    /// As `scan`, of the members before each one, with `first` in front of all.
    template <class R, class Op, class F, class... A>
    [[nodiscard]] auto exscan(R first, Op op, F f, A... arguments) const {
        return detail::scan_results_before<Result<F, A...>>(gather(f, std::move(arguments)...),
                                                            std::move(first), op);
    }
    template <auto Method, class R, class Op, class... A>
    [[nodiscard]] auto exscan(R first, Op op, A... arguments) const {
        return exscan(std::move(first), op, detail::MethodOn<T, Method>(), std::move(arguments)...);
    }

    /// The calls of those members for which predicate(const T&) holds. It is asked on the member's
    /// rank while the call travels, and costs no message.
    template <class Q>
    [[nodiscard]] auto where(Q predicate) const {
        static_assert(detail::is_object_that_travels<Q>());
        if constexpr (std::is_same_v<P, detail::Everyone>) {
            return GroupCalls<T, Q>(id_, predicate);
        } else {
            return GroupCalls<T, detail::Both<P, Q>>(id_, {predicate_, predicate});
        }
    }
    /// A group of those members for which the predicate holds now, in their order. This rank has
    /// made it. Calls of it reach no rank that has none of them.
    template <class Q>
    [[nodiscard]] Task<ObjectGroup<T>> select(Q predicate) const {
        return detail::keep_selection<ObjectGroup<T>>(where(predicate).called());
    }

protected:
    GroupCalls() noexcept = default;
    GroupCalls(const detail::GroupId& id, P predicate) : id_(id), predicate_(predicate) {}
    [[nodiscard]] const detail::GroupId& id() const noexcept { return id_; }

private:
    template <class U, class Q>
    friend class GroupCalls;
    template <class F, class... A>
    using Result = typename detail::ResultOfMember<F, T, detail::Sent<A>...>::Type;
    template <class F, class Op>
    [[nodiscard]] detail::GroupCall<P, F, Op> call_of(F f, Op op) const {
        static_assert(detail::is_object_that_travels<F>() &&
                      detail::is_object_that_travels<detail::GroupCall<P, F, Op>>());
        return {predicate_, f, op};
    }
    [[nodiscard]] Task<std::vector<detail::GroupMember>> called() const {
        return gather(detail::MemberItself());
    }
    detail::GroupId id_;
    [[no_unique_address]] P predicate_{};
};

/// The members that a group had at one time, in order. Does not change with the group.
template <class T>
class GroupMembers {
public:
    explicit GroupMembers(std::vector<Remote<T>> members) noexcept : all_(std::move(members)) {}
    [[nodiscard]] std::size_t size() const noexcept { return all_.size(); }
    [[nodiscard]] const Remote<T>& operator[](std::size_t index) const { return all_[index]; }
    /// The member that the hash of a key says. There must be members. `Hash` gives the same for a
    /// key in all processes, as std::hash does for numbers and strings.
    template <class Key, class Hash = std::hash<Key>>
    [[nodiscard]] const Remote<T>& on(const Key& key) const {
        return all_[Hash()(key) % all_.size()];
    }
    [[nodiscard]] auto begin() const noexcept { return all_.begin(); }
    [[nodiscard]] auto end() const noexcept { return all_.end(); }

private:
    std::vector<Remote<T>> all_;
};

/// Objects that are called together, in an order. A value of 12 bytes: may be copied, sent in calls
/// and stored, also in its members. The rank that has made the group is its home, and has the list
/// of its members. Without it the group is of no use: when it has left, all calls throw
/// Errc::team_broken.
///
/// Members come and go at any time. A call acts on the members that the group has when the call
/// comes to its home. So calls of one task see the changes that the task has made, and those of
/// others that it has learnt of.
template <class T>
class ObjectGroup : public GroupCalls<T> {
public:
    ObjectGroup() noexcept = default; ///< No group: calls throw Errc::invalid_argument.
    friend auto operator<=>(const ObjectGroup& a, const ObjectGroup& b) noexcept {
        return a.id() <=> b.id();
    }
    friend bool operator==(const ObjectGroup& a, const ObjectGroup& b) noexcept {
        return a.id() == b.id();
    }

    /// For co_await: the members as they are now.
    [[nodiscard]] Task<GroupMembers<T>> members() const {
        return detail::fetch_members<GroupMembers<T>, T>(this->id());
    }
    /// Puts a member behind the others. An object may be there several times.
    [[nodiscard]] Task<> add(Remote<T> member) const {
        return detail::change<T>(this->id(),
                                 {detail::GroupChange::add, detail::RemoteAccess::id(member)});
    }
    /// Takes an object out of all its places. Gives the number of places. The object lives on.
    [[nodiscard]] Task<std::size_t> remove(Remote<T> member) const {
        return detail::change_members<T>(
            this->id(), {detail::GroupChange::remove, detail::RemoteAccess::id(member)});
    }
    /// Takes out all members of a rank, as of one that has ended: Error::ranks() of a call names
    /// it. A member that has moved by itself, not by `repartition`, counts where it was before.
    [[nodiscard]] Task<std::size_t> remove(Rank of) const {
        return detail::change_members<T>(this->id(),
                                         {detail::GroupChange::remove_of_rank, {.rank = of}});
    }
    /// Ends the group, when no call of it runs. Its members live on.
    [[nodiscard]] Task<> dissolve() const {
        return detail::change<T>(this->id(), {detail::GroupChange::dissolve, {}});
    }
    /// For co_await: a group of copies of the members, each on the rank of its original. This rank
    /// has made it. If one cannot be copied, the other copies are destroyed. A copy is made as a
    /// method that reads is called (CallRule).
    [[nodiscard]] Task<ObjectGroup> clone() const {
        return detail::clone_group<ObjectGroup, T>(this->id());
    }
    /// Moves the members: `on` says where each is to be, in their order (see `spread`). They and
    /// the group stay what they were, as Remote::migrate says. If some cannot be moved, the others
    /// are moved all the same.
    [[nodiscard]] Task<> repartition(std::vector<Rank> on) const {
        return detail::repartition_group<T>(this->id(), std::move(on));
    }

private:
    friend detail::GroupAccess;
    explicit ObjectGroup(const detail::GroupId& id) noexcept : GroupCalls<T>(id, {}) {}
};

/// The ranks that `count` elements go to by a mapping; for create_group.
[[nodiscard]] inline std::vector<Rank> spread(std::size_t count, ArrayMapping mapping,
                                              const std::vector<Rank>& over) {
    const ArrayLayout layout(mapping, count, static_cast<int>(over.size()));
    std::vector<Rank> on(count);
    for (std::size_t i = 0; i < count; ++i) {
        on[i] = over[static_cast<std::size_t>(layout.place(i).rank)];
    }
    return on;
}

/// For co_await: a group of these objects, in this order; an object may be there several times.
/// Sends nothing.
template <class T>
[[nodiscard]] Task<ObjectGroup<T>> make_group(std::vector<Remote<T>> members) {
    return detail::group_of<ObjectGroup<T>>(std::move(members));
}

/// For co_await: makes a T of these arguments on each of the ranks, and a group of them. A rank may
/// be there several times; see `spread`. If one cannot be made, the others are destroyed. After a
/// stop all are destroyed, when all have been made.
template <class T, class... A>
[[nodiscard]] Task<ObjectGroup<T>> create_group(std::vector<Rank> on, A... arguments) {
    const auto make = [&](std::size_t i) {
        return detail::create_one<T>(on[i], arguments...);
    };
    co_return detail::GroupAccess::found<ObjectGroup<T>>(
        co_await detail::make_all<T>(on.size(), make));
}

} // namespace corymb

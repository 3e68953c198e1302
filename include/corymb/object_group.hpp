// SPDX-License-Identifier: Apache-2.0
// Groups of objects on several ranks, and calls of all of them. After TACO (Nolte, Ishikawa, Sato,
// 2001).
#pragma once

#include <corymb/detail/object_group.hpp>
#include <corymb/export.hpp>
#include <corymb/remote.hpp>
#include <corymb/remote_object.hpp>
#include <corymb/task.hpp>
#include <corymb/when.hpp>

#include <compare>
#include <cstddef>
#include <exception>
#include <utility>
#include <vector>

namespace corymb {

/// Objects that are called together, in an order. A value of 16 bytes: may be copied, sent in calls
/// and stored. A rank that meets a group for the first time asks the rank that has made it for the
/// members, which must not have left then.
///
/// A call of all members travels a binary tree over them: a rank that is told of a part of the
/// members hands the latter half of it to the first member there, and so on, and runs its own last.
/// So n members take about log2(n) messages in a row, and each rank sends as many at most. `f` is a
/// function object f(T& member, arguments...), which travels with its state, or a method, as in
/// step<&T::method>(arguments...). It may give a Task, which runs on the member's rank.
///
/// Throws as `at`: the exception of a member, or TaskErrors if several have failed. When a rank
/// ends in the middle, it is named, and members behind it in the tree may not have been called.
template <class T>
class ObjectGroup {
public:
    ObjectGroup() noexcept = default; ///< No members.

    [[nodiscard]] std::size_t size() const noexcept { return id_.size; }
    friend auto operator<=>(const ObjectGroup&, const ObjectGroup&) = default;

    /// Calls all members and waits.
    template <class F, class... Arguments>
    [[nodiscard]] Task<> step(F f, Arguments... arguments) const {
        static_assert(detail::is_object_that_travels<F>());
        return detail::call_part<T>(whole(), detail::Step<F>{f}, std::move(arguments)...);
    }
    template <auto Method, class... Arguments>
    [[nodiscard]] Task<> step(Arguments... arguments) const {
        return step(detail::MethodOn<T, Method>(), std::move(arguments)...);
    }
    /// As `step`, but only members for which `predicate(const T&)` holds are called. It is asked
    /// where the member is.
    template <class P, class F, class... Arguments>
    [[nodiscard]] Task<> step_where(P predicate, F f, Arguments... arguments) const {
        static_assert(detail::is_object_that_travels<P>() && detail::is_object_that_travels<F>());
        return detail::call_part<T>(whole(), detail::StepWhere<P, F>{predicate, f},
                                    std::move(arguments)...);
    }
    /// Calls all members, and gives the results combined: op(op(first, second), third) and so on,
    /// in the order of the members, with brackets anywhere: `op` is associative. Throws
    /// Errc::invalid_argument for a group of no members.
    template <class Op, class F, class... Arguments>
    [[nodiscard]] auto reduce(Op op, F f, Arguments... arguments) const {
        static_assert(detail::is_object_that_travels<Op>() && detail::is_object_that_travels<F>());
        require_members();
        return detail::call_part<T>(whole(), detail::Combine<Op, F>{op, f},
                                    std::move(arguments)...);
    }
    template <auto Method, class Op, class... Arguments>
    [[nodiscard]] auto reduce(Op op, Arguments... arguments) const {
        return reduce(op, detail::MethodOn<T, Method>(), std::move(arguments)...);
    }
    /// Calls all members, and gives their results in the order of the members. A result is a
    /// trivially copyable value.
    template <class F, class... Arguments>
    [[nodiscard]] auto gather(F f, Arguments... arguments) const {
        static_assert(detail::is_object_that_travels<F>());
        return detail::call_part<T>(whole(), detail::Collect<F>{f}, std::move(arguments)...);
    }
    template <auto Method, class... Arguments>
    [[nodiscard]] auto gather(Arguments... arguments) const {
        return gather(detail::MethodOn<T, Method>(), std::move(arguments)...);
    }

    /// The pointers to the members, in order.
    [[nodiscard]] Task<std::vector<Remote<T>>> members() const {
        const auto table = co_await detail::members_of(id_);
        std::vector<Remote<T>> all;
        for (const detail::RemoteId& id : *table) {
            all.push_back(detail::RemoteAccess::pointer<T>(id));
        }
        co_return all;
    }

private:
    template <class U>
    friend Task<ObjectGroup<U>> make_group(std::vector<Remote<U>> members);
    explicit ObjectGroup(const detail::GroupId& id) noexcept : id_(id) {}
    [[nodiscard]] detail::GroupPart whole() const noexcept { return {id_, 0, id_.size}; }
    void require_members() const {
        if (id_.size == 0) {
            detail::refuse_no_members();
        }
    }
    detail::GroupId id_;
};

/// For co_await: a group of these objects, in this order; an object may be there several times.
template <class T>
[[nodiscard]] Task<ObjectGroup<T>> make_group(std::vector<Remote<T>> members) {
    std::vector<detail::RemoteId> ids;
    for (const Remote<T>& member : members) {
        ids.push_back(detail::RemoteAccess::id(member));
    }
    co_return ObjectGroup<T>(detail::keep_members(std::move(ids)));
}

/// For co_await: makes a T of these arguments on each of the ranks, and a group of them. A rank may
/// be there several times. If one cannot be made, the others are destroyed.
template <class T, class... Arguments>
[[nodiscard]] Task<ObjectGroup<T>> create_group(std::vector<Rank> on, Arguments... arguments) {
    std::vector<Task<>> making;
    std::vector<Remote<T>> made(on.size());
    for (std::size_t i = 0; i < on.size(); ++i) {
        making.push_back(detail::create_into<T>(made[i], on[i], arguments...));
    }
    std::exception_ptr thrown;
    try {
        co_await when_all(std::move(making));
    } catch (...) {
        thrown = std::current_exception();
    }
    if (thrown != nullptr) {
        for (const Remote<T>& one : made) {
            if (one) {
                co_await detail::destroy_quietly(one);
            }
        }
        std::rethrow_exception(thrown);
    }
    co_return co_await make_group(std::move(made));
}

} // namespace corymb

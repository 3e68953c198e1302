// SPDX-License-Identifier: Apache-2.0
// How the list of the members of a group changes, and how ranks forget lists of old.
#pragma once

#include <corymb/detail/group_list.hpp>
#include <corymb/error.hpp>
#include <corymb/finish.hpp>
#include <corymb/remote.hpp>
#include <corymb/scheduler.hpp>
#include <corymb/task.hpp>

#include <cstddef>
#include <stop_token>
#include <utility>
#include <vector>

namespace corymb::detail {

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

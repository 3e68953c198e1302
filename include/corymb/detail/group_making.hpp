// SPDX-License-Identifier: Apache-2.0
// How groups of objects come about.
#pragma once

#include <corymb/detail/finish_whole.hpp>
#include <corymb/detail/group_change.hpp>
#include <corymb/detail/group_list.hpp>
#include <corymb/error.hpp>
#include <corymb/finish.hpp>
#include <corymb/rank.hpp>
#include <corymb/remote.hpp>
#include <corymb/remote_object.hpp>
#include <corymb/scheduler.hpp>
#include <corymb/task.hpp>
#include <corymb/this_task.hpp>

#include <cstddef>
#include <exception>
#include <map>
#include <memory>
#include <stop_token>
#include <utility>
#include <vector>

namespace corymb::detail {

struct GroupAccess {
    /// On this rank.
    template <class Group>
    static Group found(std::vector<GroupMember> members) {
        return Group(found_group(std::move(members)));
    }
    template <class Group, class T>
    static Group found(const std::vector<Remote<T>>& members) {
        std::vector<GroupMember> all;
        all.reserve(members.size());
        for (const Remote<T>& member : members) {
            all.push_back({RemoteAccess::id(member), member.rank()});
        }
        return found<Group>(std::move(all));
    }
};

template <class Group, class T>
Task<Group> group_of(std::vector<Remote<T>> members) {
    co_return GroupAccess::found<Group>(members);
}
template <class Group>
Task<Group> keep_selection(Task<std::vector<GroupMember>> members) {
    co_return GroupAccess::found<Group>(co_await std::move(members));
}
template <class T>
Task<> change(GroupId group, GroupChange what) {
    co_await change_members<T>(group, what);
}

/// Travels to the home of a group.
template <class T>
struct ListAtHome {
    GroupId group;
    std::vector<RemoteId> operator()() const { return list_members(group); }
};
template <class Members, class T>
Task<Members> fetch_members(GroupId group) {
    require_group(group);
    const std::vector<RemoteId> ids = co_await at(group.home, ListAtHome<T>{group});
    std::vector<Remote<T>> all;
    all.reserve(ids.size());
    for (const RemoteId& id : ids) {
        all.push_back(RemoteAccess::pointer<T>(id));
    }
    co_return Members(std::move(all));
}

template <class T, class... A>
Task<Remote<T>> create_one(Rank on, A... arguments) {
    co_return co_await create<T>(on, std::move(arguments)...);
}
template <class T>
Task<> keep_made(Remote<T>& made, Task<Remote<T>> making) {
    made = co_await std::move(making);
}
template <class T>
Task<> destroy_made(std::vector<Remote<T>> made) {
    for (const Remote<T>& one : made) {
        if (one) {
            try {
                co_await one.destroy();
            } catch (const Error& error) {
                require_rank_gone(error);
            }
        }
    }
}
/// Objects that make(index) makes, all at once. If one fails, or this task is asked to stop, the
/// others are destroyed: all are waited for, since an object is not known before its call has been
/// answered. So no stop reaches the calls.
template <class T, class Make>
Task<std::vector<Remote<T>>> make_all(std::size_t count, const Make& make) {
    static constexpr const char* what = "the objects of a group";
    require_no_stop(what);
    std::vector<Remote<T>> made(count);
    std::exception_ptr thrown;
    try {
        co_await finish([&] {
            for (std::size_t i = 0; i < count; ++i) {
                spawn(keep_made(made[i], make(i)), std::stop_token());
            }
        });
        require_no_stop(what);
    } catch (...) {
        thrown = std::current_exception();
    }
    if (thrown != nullptr) {
        co_await to_its_end(destroy_made(std::move(made)));
        std::rethrow_exception(thrown);
    }
    co_return made;
}

/// Makes a copy of an object beside it.
template <class T>
struct MakeCopy {
    Remote<T> operator()(const T& original) const {
        return MakingWay<T>::prepare(remote_state_here(), {})(original);
    }
};
/// As a call that reads.
template <class T>
Task<Remote<T>> clone_one(RemoteId original) {
    using Clone = RemoteCall<FunctionOnObjectWay<T, CallRule::shared>, MakeCopy<T>>;
    co_return co_await CallAwait<Clone>(original.rank,
                                        Clone(CalledObject{original}, MakeCopy<T>{}));
}
template <class Group, class T>
Task<Group> clone_group(GroupId group) {
    require_group(group);
    const std::vector<RemoteId> ids = co_await at(group.home, ListAtHome<T>{group});
    const auto make = [&ids](std::size_t i) {
        return clone_one<T>(ids[i]);
    };
    co_return GroupAccess::found<Group>(co_await make_all<T>(ids.size(), make));
}

template <class T>
Task<> move_member(GroupMember member, std::vector<GroupMember>& moved) {
    co_await RemoteAccess::pointer<T>(member.id).migrate(member.on);
    moved.push_back(member);
}
template <class T>
Task<> place_moved(GroupId group, std::vector<GroupMember> moved) {
    co_await at(group.home, PlaceAtHome<T>{group}, std::move(moved));
}
/// The home learns of each member that has moved, also after a stop.
template <class T>
Task<> repartition_group(GroupId group, std::vector<Rank> on) {
    require_group(group);
    const std::vector<RemoteId> ids = co_await at(group.home, ListAtHome<T>{group});
    if (on.size() != ids.size()) {
        refuse_places(on.size(), ids.size());
    }
    std::map<RemoteId, Rank> places; // An object may be a member several times.
    for (std::size_t i = 0; i < ids.size(); ++i) {
        places[ids[i]] = on[i];
    }
    std::vector<GroupMember> moved;
    std::vector<std::exception_ptr> thrown;
    try {
        co_await finish([&] {
            for (const auto& [id, rank] : places) {
                spawn(move_member<T>({id, rank}, moved));
            }
        });
        if (moved.size() != places.size()) { // Tasks that end by a stop have not thrown.
            require_no_stop("the members of a group to move");
        }
    } catch (...) {
        thrown.push_back(std::current_exception());
    }
    try {
        if (!moved.empty()) {
            co_await to_its_end(place_moved<T>(group, std::move(moved)));
        }
    } catch (...) {
        thrown.push_back(std::current_exception());
    }
    if (!thrown.empty()) {
        throw_all(std::move(thrown));
    }
}

} // namespace corymb::detail

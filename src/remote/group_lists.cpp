// SPDX-License-Identifier: Apache-2.0
#include "remote/group_lists.hpp"

#include "remote/remote_state.hpp"

#include <corymb/error.hpp>

#include <algorithm>
#include <iterator>
#include <memory>
#include <string>
#include <utility>

namespace corymb::detail {

namespace {

[[noreturn]] void refuse_group(const std::string& text) {
    throw Error(Errc::invalid_argument, text);
}

GroupLists::Own& own_group(const GroupId& group) {
    auto& own = remote_state_here().groups.own;
    const auto found = own.find(group.number);
    if (found == own.end()) {
        refuse_group("the group of objects was dissolved");
    }
    return found->second;
}

void require_member(const RemoteId& member) {
    if (member.rank < 0 || member.group != remote_state_here().objects.group()) {
        refuse_group("a member of a group is no object of these ranks");
    }
}

/// On one node all ranks have the same.
int node_of(std::span<const int> node_of_rank, Rank rank) {
    return node_of_rank.empty() ? 0 : node_of_rank[static_cast<std::size_t>(rank)];
}

/// By node and rank, those of `first` in front, then as nodes and ranks come among the members.
std::vector<GroupMember> in_tree_order(const std::vector<GroupMember>& members, Rank first,
                                       std::span<const int> node_of_rank) {
    std::map<int, std::size_t> place_of_node{{node_of(node_of_rank, first), 0}};
    std::map<Rank, std::pair<std::size_t, std::size_t>> place{{first, {0, 0}}};
    std::vector<GroupMember> sorted;
    sorted.reserve(members.size());
    for (const GroupMember& member : members) {
        const auto node =
            place_of_node.try_emplace(node_of(node_of_rank, member.on), place_of_node.size());
        place.try_emplace(member.on, std::pair(node.first->second, place.size()));
        sorted.push_back({member.id, member.on, static_cast<std::uint32_t>(sorted.size())});
    }
    std::sort(sorted.begin(), sorted.end(), [&place](const GroupMember& a, const GroupMember& b) {
        return std::pair(place.at(a.on), a.index) < std::pair(place.at(b.on), b.index);
    });
    return sorted;
}

/// Where the parts of a row begin whose neighbours differ in `key`, and its end.
template <class Key>
std::vector<std::size_t> begins_of(std::size_t count, const Key& key) {
    std::vector<std::size_t> begins;
    for (std::size_t i = 0; i < count; ++i) {
        if (i == 0 || key(i) != key(i - 1)) {
            begins.push_back(i);
        }
    }
    begins.push_back(count);
    return begins;
}

} // namespace

GroupPart::GroupPart(const GroupListId& of, Rank own, std::span<const GroupMember> all,
                     std::span<const int> node_of_rank)
    : list(of) {
    const auto rank_of = [all](std::size_t i) {
        return all[i].on;
    };
    const auto node_at = [&](std::size_t i) {
        return node_of(node_of_rank, rank_of(i));
    };
    std::size_t end = all.size(); // The branches behind are made.
    const auto branch_from = [&](std::size_t first) {
        const auto half = all.subspan(first, end - first);
        branches.push_back({rank_of(first), {half.begin(), half.end()}, false});
        end = first;
    };
    // Nodes, then the ranks of this one. This rank is in front, also if it has no members.
    const auto halve = [&](std::vector<std::size_t> begins, bool is_own_first) {
        if (!is_own_first) {
            begins.insert(begins.begin(), 0);
        }
        for (std::size_t parts = begins.size() - 1; parts > 1; parts /= 2) {
            branch_from(begins[parts / 2]);
        }
    };
    const bool is_own_node = !all.empty() && node_at(0) == node_of(node_of_rank, own);
    halve(begins_of(end, node_at), is_own_node);
    halve(begins_of(end, rank_of), !all.empty() && rank_of(0) == own);
    const auto here = all.first(end);
    members.assign(here.begin(), here.end());
}

void GroupLists::Own::retire_part() {
    if (part != nullptr) {
        stale.push_back(std::exchange(part, nullptr));
        ++version;
    }
}

UnusedParts GroupLists::Own::take_unused() {
    const auto unused = std::partition(stale.begin(), stale.end(),
                                       [](const GroupPartOwner& of) { return of.use_count() > 1; });
    UnusedParts taken(std::make_move_iterator(unused), std::make_move_iterator(stale.end()));
    stale.erase(unused, stale.end());
    return taken;
}

GroupId found_group(std::vector<GroupMember> members) {
    RemoteState& own = remote_state_here();
    for (const GroupMember& member : members) {
        require_member(member.id);
    }
    const GroupId made{here(), own.groups.next++, own.objects.group()};
    own.groups.own[made.number].members = std::move(members);
    return made;
}

void require_group(const GroupId& group) {
    if (group.home < 0) {
        refuse_group("there is no group of objects: make_group makes one, also without members");
    }
    if (group.mark != remote_state_here().objects.group()) {
        refuse_group("the group of objects is of other ranks");
    }
}

std::vector<RemoteId> list_members(const GroupId& group) {
    std::vector<RemoteId> ids;
    for (const GroupMember& member : own_group(group).members) {
        ids.push_back(member.id);
    }
    return ids;
}

GroupPartOwner part_at_home(const GroupId& group) {
    GroupLists::Own& own = own_group(group);
    if (own.part == nullptr) {
        const auto nodes = remote_state_here().transport.node_of_rank();
        own.part =
            std::make_shared<GroupPart>(GroupListId{group, own.version}, group.home,
                                        in_tree_order(own.members, group.home, nodes), nodes);
    }
    return own.part;
}

UnusedParts change_group(const GroupId& group, const GroupChange& change, std::size_t& changed) {
    GroupLists::Own& own = own_group(group);
    const RemoteId& member = change.member;
    switch (change.kind) {
    case GroupChange::add:
        require_member(member);
        own.members.push_back({member, member.rank});
        changed = 1;
        break;
    case GroupChange::remove:
        changed = std::erase_if(own.members,
                                [&member](const GroupMember& each) { return each.id == member; });
        break;
    case GroupChange::remove_of_rank:
        changed = std::erase_if(
            own.members, [&member](const GroupMember& each) { return each.on == member.rank; });
        break;
    case GroupChange::dissolve: changed = own.members.size(); break;
    }
    if (changed != 0) {
        own.retire_part();
    }
    if (change.kind != GroupChange::dissolve) {
        return own.take_unused();
    }
    own.retire_part();
    UnusedParts all = std::move(own.stale);
    remote_state_here().groups.own.erase(group.number);
    return all;
}

UnusedParts place_members(const GroupId& group, std::span<const GroupMember> moved) {
    GroupLists::Own& own = own_group(group);
    std::map<RemoteId, Rank> places;
    for (const GroupMember& one : moved) {
        places[one.id] = one.on;
    }
    bool has_changed = false;
    for (GroupMember& member : own.members) {
        const auto found = places.find(member.id);
        if (found != places.end()) {
            has_changed = has_changed || member.on != found->second;
            member.on = found->second;
        }
    }
    if (has_changed) {
        own.retire_part();
    }
    return own.take_unused();
}

GroupPartOwner part_here(const GroupListId& list, std::span<const GroupMember> members) {
    RemoteState& own = remote_state_here();
    const auto found = own.groups.told.find(list);
    if (found != own.groups.told.end()) {
        return found->second;
    }
    if (members.empty()) {
        refuse_group("the group of objects was dissolved while a call of it was under way");
    }
    auto made = std::make_shared<GroupPart>(list, here(), members, own.transport.node_of_rank());
    own.groups.told.emplace(list, made);
    return made;
}

GroupPartOwner take_part(const GroupListId& list) noexcept {
    auto& told = remote_state_here().groups.told;
    const auto found = told.find(list);
    if (found == told.end()) {
        return nullptr;
    }
    GroupPartOwner part = std::move(found->second);
    told.erase(found);
    return part;
}

void refuse_no_members() {
    throw Error(Errc::invalid_argument, "a group of no members has nothing to combine");
}

void refuse_places(std::size_t given, std::size_t members) {
    refuse_group("repartition was given " + std::to_string(given) + " ranks for " +
                 std::to_string(members) +
                 " members: give one for each, in the order of the members");
}

} // namespace corymb::detail

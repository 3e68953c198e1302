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

[[noreturn]] void refuse(const std::string& text) {
    throw Error(Errc::invalid_argument, text);
}

GroupLists::Own& own_group(const GroupId& group) {
    auto& own = remote_state_here().groups.own;
    const auto found = own.find(group.number);
    if (found == own.end()) {
        refuse("the group of objects was dissolved");
    }
    return found->second;
}

void require_member(const RemoteId& member) {
    if (member.rank < 0 || member.group != remote_state_here().objects.group()) {
        refuse("a member of a group is no object of these ranks");
    }
}

/// By rank, those of `first` in front, then in the order in which the ranks come among the members.
std::vector<GroupMember> by_rank(const std::vector<RemoteId>& members, Rank first) {
    std::map<Rank, std::uint32_t> place{{first, 0}};
    std::vector<GroupMember> sorted;
    sorted.reserve(members.size());
    for (const RemoteId& member : members) {
        place.try_emplace(member.rank, static_cast<std::uint32_t>(place.size()));
        sorted.push_back({member, static_cast<std::uint32_t>(sorted.size())});
    }
    std::sort(sorted.begin(), sorted.end(), [&place](const GroupMember& a, const GroupMember& b) {
        return std::pair(place.at(a.id.rank), a.index) < std::pair(place.at(b.id.rank), b.index);
    });
    return sorted;
}

} // namespace

GroupPart::GroupPart(const GroupListId& of, Rank own, std::span<const GroupMember> all) : list(of) {
    std::vector<std::size_t> begins; // By rank, this one in front, and the end.
    if (all.empty() || all.front().id.rank != own) {
        begins.push_back(0);
    }
    for (std::size_t i = 0; i < all.size(); ++i) {
        if (i == 0 || all[i].id.rank != all[i - 1].id.rank) {
            begins.push_back(i);
        }
    }
    begins.push_back(all.size());
    for (std::size_t ranks = begins.size() - 1; ranks > 1; ranks /= 2) {
        const std::size_t first = begins[ranks / 2];
        const auto half = all.subspan(first, begins[ranks] - first);
        branches.push_back({half.front().id.rank, {half.begin(), half.end()}, false});
    }
    const auto here = all.first(begins[1]);
    members.assign(here.begin(), here.end());
}

GroupId found_group(std::vector<RemoteId> members) {
    RemoteState& own = remote_state_here();
    std::for_each(members.begin(), members.end(), require_member);
    const GroupId made{here(), own.groups.next++, own.objects.group()};
    own.groups.own[made.number].members = std::move(members);
    return made;
}

void require_group(const GroupId& group) {
    if (group.home < 0) {
        refuse("there is no group of objects: make_group makes one, also without members");
    }
    if (group.mark != remote_state_here().objects.group()) {
        refuse("the group of objects is of other ranks");
    }
}

std::vector<RemoteId> list_members(const GroupId& group) {
    return own_group(group).members;
}

GroupPartOwner part_at_home(const GroupId& group) {
    GroupLists::Own& own = own_group(group);
    if (own.part == nullptr) {
        own.part = std::make_shared<GroupPart>(GroupListId{group, own.version}, group.home,
                                               by_rank(own.members, group.home));
    }
    return own.part;
}

UnusedParts change_group(const GroupId& group, const GroupChange& change, std::size_t& changed) {
    GroupLists::Own& own = own_group(group);
    const RemoteId& member = change.member;
    switch (change.kind) {
    case GroupChange::add:
        require_member(member);
        own.members.push_back(member);
        changed = 1;
        break;
    case GroupChange::remove: changed = std::erase(own.members, member); break;
    case GroupChange::remove_of_rank:
        changed = std::erase_if(
            own.members, [&member](const RemoteId& each) { return each.rank == member.rank; });
        break;
    case GroupChange::dissolve: changed = own.members.size(); break;
    }
    const bool is_end = change.kind == GroupChange::dissolve;
    if (own.part != nullptr && (changed != 0 || is_end)) {
        own.stale.push_back(std::exchange(own.part, nullptr));
        ++own.version;
    }
    const auto unused =
        std::partition(own.stale.begin(), own.stale.end(), [is_end](const GroupPartOwner& part) {
            return !is_end && part.use_count() > 1;
        });
    UnusedParts taken(std::make_move_iterator(unused), std::make_move_iterator(own.stale.end()));
    own.stale.erase(unused, own.stale.end());
    if (is_end) {
        remote_state_here().groups.own.erase(group.number);
    }
    return taken;
}

GroupPartOwner part_here(const GroupListId& list, std::span<const GroupMember> members) {
    RemoteState& own = remote_state_here();
    const auto found = own.groups.told.find(list);
    if (found != own.groups.told.end()) {
        return found->second;
    }
    if (members.empty()) {
        refuse("the group of objects was dissolved while a call of it was under way");
    }
    auto made = std::make_shared<GroupPart>(list, here(), members);
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

} // namespace corymb::detail

// SPDX-License-Identifier: Apache-2.0
// What a rank knows of the members of groups of objects.
#include "remote/remote_state.hpp"

#include <corymb/detail/object_group.hpp>
#include <corymb/error.hpp>

#include <memory>
#include <string>
#include <utility>

namespace corymb::detail {

GroupId keep_members(std::vector<RemoteId> members) {
    RemoteState& own = remote_state_here();
    for (const RemoteId& member : members) {
        if (member.rank < 0 || member.group != own.objects.group()) {
            throw Error(Errc::invalid_argument, "a member of a group is no object of these ranks");
        }
    }
    GroupId made{here(), own.next_group++, static_cast<std::uint32_t>(members.size()),
                 own.objects.group()};
    learn_members(made, std::make_shared<const std::vector<RemoteId>>(std::move(members)));
    return made;
}

Members known_members(const GroupId& group) {
    RemoteState& own = remote_state_here();
    if (group.mark != own.objects.group()) {
        throw Error(Errc::invalid_argument, "the group of objects is of other ranks");
    }
    const auto found = own.members.find({group.home, group.number});
    return found == own.members.end() ? nullptr : found->second;
}

void learn_members(const GroupId& group, Members members) {
    remote_state_here().members.insert_or_assign({group.home, group.number}, std::move(members));
}

std::vector<RemoteId> give_members(const GroupId& group) {
    const Members known = known_members(group);
    if (known == nullptr) {
        throw Error(Errc::invalid_argument,
                    "rank " + std::to_string(here()) + " knows no such group of objects");
    }
    return *known;
}

void refuse_no_members() {
    throw Error(Errc::invalid_argument, "a group of no members has nothing to combine");
}

} // namespace corymb::detail

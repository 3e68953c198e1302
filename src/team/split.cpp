// SPDX-License-Identifier: Apache-2.0
#include "team/member.hpp"

#include <corymb/team.hpp>

#include <algorithm>
#include <vector>

namespace corymb {

namespace {

/// Old ranks of the group of `color`, in new rank order.
std::vector<Rank> group_of(team::Fabric<team::Env>& fabric, int color) {
    std::vector<Rank> group;
    for (Rank rank = 0; rank < fabric.size(); ++rank) {
        if (fabric.state(rank).color == color) {
            group.push_back(rank);
        }
    }
    std::stable_sort(group.begin(), group.end(),
                     [&](Rank a, Rank b) { return fabric.state(a).key < fabric.state(b).key; });
    return group;
}

} // namespace

Team Team::split(int color, int key) {
    const detail::InCall handle(member());
    handle->require_one_node("split", "its carrier has no channels for another team; split the "
                                      "local teams first, and give each part a carrier");
    detail::TeamShared& shared = *handle->shared;
    auto& own = shared.fabric.state(rank());
    own.color = color;
    own.key = key;
    own.made = 0;
    barrier(); // Everybody's wish is there.
    const std::vector<Rank> group =
        color < 0 ? std::vector<Rank>{} : group_of(shared.fabric, color);
    std::shared_ptr<detail::TeamShared> part;
    if (!group.empty() && group.front() == rank()) {
        try {
            own.made = Arena(*shared.memory).root();
            shared.tell_processes(own.made, group);
            part = shared.part(own.made, group);
        } catch (const std::exception& error) {
            if (own.made != 0) {
                Arena(*shared.memory, own.made).drop();
            }
            shared.fail({Errc::team_broken,
                         "split: rank " + std::to_string(rank()) + " failed: " + error.what(),
                         {rank()}});
            throw;
        }
    }
    barrier(); // Everybody's new team is there.
    Team result;
    if (!group.empty()) {
        const auto place = std::find(group.begin(), group.end(), rank()) - group.begin();
        part = shared.part(shared.fabric.state(group.front()).made, group);
        part->take(static_cast<Rank>(place));
        result = Team(part, static_cast<Rank>(place));
    }
    barrier(); // Nobody needs the tables any more.
    return result;
}

} // namespace corymb

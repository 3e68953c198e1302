// SPDX-License-Identifier: Apache-2.0
#include "team/member.hpp"

#include <corymb/team.hpp>

#include <algorithm>
#include <tuple>
#include <vector>

namespace corymb {

namespace {

/// Old ranks of the group of `color`, in new rank order.
std::vector<Rank> group_of(const detail::TeamShared& shared, int color) {
    std::vector<Rank> group;
    for (std::size_t rank = 0; rank < shared.wishes.size(); ++rank) {
        if (shared.wishes[rank].color == color) {
            group.push_back(static_cast<Rank>(rank));
        }
    }
    std::stable_sort(group.begin(), group.end(), [&](Rank a, Rank b) {
        return shared.wishes[static_cast<std::size_t>(a)].key <
               shared.wishes[static_cast<std::size_t>(b)].key;
    });
    return group;
}

std::shared_ptr<detail::TeamShared> make_group(const detail::TeamShared& shared,
                                               const std::vector<Rank>& group) {
    TeamOptions options = shared.options;
    if (!shared.plans_given) {
        options.plans = nullptr; // The default depends on the members' CPUs.
    }
    if (!options.cpus.empty()) {
        options.cpus.clear();
        for (const Rank rank : group) {
            options.cpus.push_back(shared.options.cpus[static_cast<std::size_t>(rank)]);
        }
    }
    return std::make_shared<detail::TeamShared>(static_cast<int>(group.size()), options);
}

} // namespace

Team Team::split(int color, int key) {
    detail::TeamShared& shared = *member_->shared;
    const auto own = static_cast<std::size_t>(rank());
    shared.wishes[own] = {color, key};
    barrier(); // Everybody's wish is there.
    const std::vector<Rank> group = color < 0 ? std::vector<Rank>{} : group_of(shared, color);
    if (!group.empty() && group.front() == rank()) {
        try {
            shared.made[own] = make_group(shared, group);
        } catch (const std::exception& error) {
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
        const auto& made = shared.made[static_cast<std::size_t>(group.front())];
        made->take(static_cast<Rank>(place));
        result = Team(made, static_cast<Rank>(place));
    }
    barrier(); // Nobody needs the tables any more.
    shared.made[own].reset();
    return result;
}

} // namespace corymb

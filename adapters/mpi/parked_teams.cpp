// SPDX-License-Identifier: Apache-2.0
#include "parked_teams.hpp"

#include "node_ranks.hpp"

#include <algorithm>
#include <exception>
#include <mutex>
#include <utility>
#include <vector>

namespace corymb::mpi {

namespace {

/// Never destroyed: MPI may call back while the process ends.
struct Lot {
    std::mutex lock;
    std::vector<RankTeam> teams; ///< The one that was parked first comes first.
};

Lot& lot() {
    static auto* const one = new Lot;
    return *one;
}

/// Whether the ranks that have the team are the members, in the same order.
bool is_of(const RankTeam& team, MPI_Group members) noexcept {
    int result = MPI_UNEQUAL;
    return host().Group_compare(team.members, members, &result) == MPI_SUCCESS &&
           result == MPI_IDENT;
}

/// A crowd that was not known when the team was made would be one that its waits do not know of.
bool knows_its_crowd(const RankTeam& team) noexcept {
    return known_ranks_per_cpu() <= team.crowd;
}

/// As much as there is; of persistent operations the MPI may run out of tags.
bool can_be_gone_on_with(const Group& group) noexcept {
    return group.state == Group::State::team && group.id != 0 &&
           !group.has_failed.load(std::memory_order_relaxed) &&
           (group.carrier == nullptr || !group.carrier->is_worn());
}

} // namespace

void park(Group& group) noexcept {
    if (!can_be_gone_on_with(group)) {
        return;
    }
    Lot& all = lot();
    RankTeam too_many;
    {
        const std::lock_guard lock(all.lock);
        try {
            all.teams.reserve(parked_most);
        } catch (const std::exception&) {
            return;
        }
        if (all.teams.size() == parked_most) {
            too_many = std::move(all.teams.front());
            all.teams.erase(all.teams.begin());
        }
        all.teams.push_back(std::exchange(static_cast<RankTeam&>(group), RankTeam{}));
    }
    end_team(too_many);
}

RankTeam take_parked(const Group& group) noexcept {
    RankTeam found;
    Lot& all = lot();
    const std::lock_guard lock(all.lock);
    MPI_Group members{};
    if (all.teams.empty() || host().Comm_group(group.comm, &members) != MPI_SUCCESS) {
        return found;
    }
    auto best = all.teams.end();
    for (auto team = all.teams.begin(); team != all.teams.end(); ++team) {
        if ((best == all.teams.end() || team->id < best->id) && knows_its_crowd(*team) &&
            is_of(*team, members)) {
            best = team;
        }
    }
    host().Group_free(&members);
    if (best != all.teams.end()) {
        found = std::move(*best);
        all.teams.erase(best);
    }
    return found;
}

void end_parked(bool with_communicators) noexcept {
    std::vector<RankTeam> teams;
    {
        Lot& all = lot();
        const std::lock_guard lock(all.lock);
        teams.swap(all.teams);
    }
    for (RankTeam& team : teams) {
        end_team(team, with_communicators);
    }
}

int parked_count() noexcept {
    Lot& all = lot();
    const std::lock_guard lock(all.lock);
    return static_cast<int>(all.teams.size());
}

} // namespace corymb::mpi

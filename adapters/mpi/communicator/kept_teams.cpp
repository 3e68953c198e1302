// SPDX-License-Identifier: Apache-2.0
#include "communicator/kept_teams.hpp"

#include "below/node_ranks.hpp"

#include <algorithm>
#include <exception>
#include <mutex>
#include <utility>
#include <vector>

namespace corymb::mpi {

namespace {

/// Never destroyed: MPI may call back while the process ends.
struct KeptTeams {
    std::mutex lock;
    std::vector<RankTeam> teams; ///< The one that was kept first comes first.
    std::size_t left_alone = 0;  ///< Teams between nodes that ended on this rank alone.
};

KeptTeams& kept_teams() {
    static auto* const one = new KeptTeams;
    return *one;
}

/// Whether the ranks that have the team are the members, in one order.
bool is_of(const RankTeam& team, MPI_Group members) noexcept {
    int result = MPI_UNEQUAL;
    return host().Group_compare(team.members, members, &result) == MPI_SUCCESS &&
           result == MPI_IDENT;
}

/// A crowd that was not known when the team was made would be one that its waits do not know of.
bool knows_its_crowd(const RankTeam& team) noexcept {
    return known_ranks_per_cpu() <= team.crowd;
}

/// Whether another communicator can go on with the team. Not with a team that has lanes for
/// persistent operations between nodes: their agreements go on without it.
bool can_be_gone_on_with(const Communicator& communicator) noexcept {
    return (communicator.state == Communicator::State::team || communicator.has_requests_on_team) &&
           communicator.id != 0 && !communicator.has_failed.load(std::memory_order_relaxed) &&
           (communicator.carrier == nullptr || !communicator.carrier->has_own_lanes());
}

/// The kept team that the ranks of the communicator can go on with.
std::vector<RankTeam>::iterator best_for(const Communicator& communicator,
                                         std::vector<RankTeam>& teams) noexcept {
    MPI_Group members{};
    auto best = teams.end();
    if (teams.empty() || host().Comm_group(communicator.comm, &members) != MPI_SUCCESS) {
        return best;
    }
    for (auto team = teams.begin(); team != teams.end(); ++team) {
        if ((best == teams.end() || team->id < best->id) && knows_its_crowd(*team) &&
            is_of(*team, members)) {
            best = team;
        }
    }
    host().Group_free(&members);
    return best;
}

int ranks_of(const std::vector<RankTeam>& teams) noexcept {
    int all = 0;
    for (const RankTeam& team : teams) {
        all += team.ranks;
    }
    return all;
}

/// Takes out the oldest teams until there is room for one of so many ranks. Teams between nodes
/// stay. False: there is no room.
bool make_room(std::vector<RankTeam>& teams, int ranks, std::vector<RankTeam>& too_many) {
    teams.reserve(kept_teams_most);
    too_many.reserve(kept_teams_most);
    const auto is_full = [&] {
        return teams.size() >= kept_teams_most ||
               (!teams.empty() && ranks_of(teams) + ranks > kept_team_ranks_most);
    };
    for (auto next = teams.begin(); is_full();) {
        next = std::find_if(next, teams.end(),
                            [](const RankTeam& team) { return team.carrier == nullptr; });
        if (next == teams.end()) {
            return false;
        }
        too_many.push_back(std::move(*next));
        next = teams.erase(next);
    }
    return true;
}

} // namespace

void keep_team(Communicator& communicator) noexcept {
    if (!can_be_gone_on_with(communicator)) {
        return;
    }
    KeptTeams& all = kept_teams();
    std::vector<RankTeam> too_many;
    try {
        const std::lock_guard lock(all.lock);
        const bool is_allowed = communicator.carrier == nullptr || all.left_alone < kept_teams_most;
        if (is_allowed && make_room(all.teams, communicator.ranks, too_many)) {
            all.teams.push_back(std::exchange(static_cast<RankTeam&>(communicator), RankTeam{}));
        }
    } catch (const std::exception&) { // No memory: it ends, as without all this.
    }
    for (RankTeam& team : too_many) {
        end_team(team);
    }
}

std::uint64_t offer_of(const RankTeam& team) noexcept {
    constexpr std::uint64_t spread = 0x9e3779b97f4a7c15;
    return team.id == 0 ? 0 : (team.id + team.calls_taken * spread) | 1;
}

void give_up(RankTeam&& team) noexcept {
    if (team.carrier != nullptr) {
        KeptTeams& all = kept_teams();
        const std::lock_guard lock(all.lock);
        ++all.left_alone;
    }
    end_team(team, false);
}

RankTeam take_kept_team(const Communicator& communicator) noexcept {
    RankTeam found;
    KeptTeams& all = kept_teams();
    const std::lock_guard lock(all.lock);
    const auto best = best_for(communicator, all.teams);
    if (best != all.teams.end()) {
        found = std::move(*best);
        all.teams.erase(best);
    }
    return found;
}

bool has_kept_team(const Communicator& communicator) noexcept {
    KeptTeams& all = kept_teams();
    const std::lock_guard lock(all.lock);
    return best_for(communicator, all.teams) != all.teams.end();
}

void end_kept_teams() noexcept {
    std::vector<RankTeam> teams;
    {
        KeptTeams& all = kept_teams();
        const std::lock_guard lock(all.lock);
        teams.swap(all.teams);
    }
    for (RankTeam& team : teams) {
        give_up(std::move(team));
    }
}

int kept_team_count() noexcept {
    KeptTeams& all = kept_teams();
    const std::lock_guard lock(all.lock);
    return static_cast<int>(all.teams.size());
}

} // namespace corymb::mpi

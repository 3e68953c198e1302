// SPDX-License-Identifier: Apache-2.0
// What a team of processes knows about the processes of its ranks.
#include "base/process_state.hpp"
#include "team/team_shared.hpp"

#include <fmt/format.h>

namespace corymb::detail {

void TeamShared::set_pids(const std::vector<std::uint32_t>& pids) {
    const std::lock_guard lock(*memory);
    for (std::size_t rank = 0; rank < pids.size(); ++rank) {
        fabric.state(static_cast<Rank>(rank)).pid = pids[rank];
    }
}

void TeamShared::tell_pids(Offset arena, const std::vector<Rank>& ranks) {
    const auto size = static_cast<int>(ranks.size());
    team::Fabric<team::Env> part(Arena(*memory, arena), size, 0, team::fencing_of(size, usable));
    const std::lock_guard lock(*memory);
    for (std::size_t place = 0; place < ranks.size(); ++place) {
        part.state(static_cast<Rank>(place)).pid = fabric.state(ranks[place]).pid;
    }
}

bool TeamShared::is_elsewhere(Rank rank) noexcept {
    return company != nullptr && fabric.state(rank).pid != own_pid_;
}

std::vector<int> TeamShared::lost(std::uint64_t operation) {
    std::vector<int> ranks;
    if (company) {
        company->watch.look();
        for (Rank rank = 0; rank < fabric.size(); ++rank) {
            auto& state = fabric.state(rank);
            if (is_elsewhere(rank) && company->watch.has_ended(state.pid) &&
                state.finished.load(std::memory_order_relaxed) < operation) {
                ranks.push_back(rank);
            }
        }
    }
    return ranks;
}

std::string TeamShared::name_of(Rank rank) {
    if (!company) {
        return fmt::format("rank {}", rank);
    }
    const std::uint32_t pid = fabric.state(rank).pid;
    return fmt::format("rank {} (pid {}{})", rank, pid, process_state(pid));
}

} // namespace corymb::detail

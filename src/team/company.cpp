// SPDX-License-Identifier: Apache-2.0
// The knowledge of a team of processes about the processes of its ranks.
#include "base/clock.hpp"
#include "base/process_state.hpp"
#include "channel/look_once.hpp"
#include "team/team_shared.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <thread>
#include <utility>

namespace corymb::detail {

namespace {

using namespace std::chrono_literals;

/// Waits until a process writes into no other, or has ended. False: it still does at `deadline`.
bool wait_for_writes(const channel::CopyGate<team::Env>& gate, PeerWatch& watch, std::uint32_t pid,
                     std::int64_t deadline) {
    channel::LookOnce once;
    for (std::chrono::microseconds pause{0}; !gate.drain_writes(once);
         pause = std::min(2 * pause + 1us, 1000us)) {
        watch.look();
        if (watch.has_ended(pid)) {
            return true;
        }
        if (now_ns() >= deadline) {
            return false;
        }
        std::this_thread::sleep_for(pause);
    }
    return true;
}

} // namespace

void TeamShared::set_processes(team::Roster& roster) {
    const std::lock_guard lock(*memory);
    for (Rank rank = 0; rank < fabric.size(); ++rank) {
        fabric.state(rank).pid = roster.entry(rank).pid;
        fabric.state(rank).mark = roster.entry(rank).mark;
    }
}

void TeamShared::tell_processes(Offset arena, const std::vector<Rank>& ranks) {
    const auto size = static_cast<int>(ranks.size());
    team::Fabric<team::Env> part(Arena(*memory, arena), size, 0, team::fencing_of(oversubscribed));
    const std::lock_guard lock(*memory);
    for (std::size_t place = 0; place < ranks.size(); ++place) {
        auto& state = part.state(static_cast<Rank>(place));
        state.pid = fabric.state(ranks[place]).pid;
        state.mark = fabric.state(ranks[place]).mark;
    }
}

bool TeamShared::is_elsewhere(Rank rank) noexcept {
    return company != nullptr && fabric.state(rank).pid != own_pid_;
}

std::vector<int> TeamShared::lost(std::uint64_t operation) {
    return lost(0, operation);
}

std::vector<int> TeamShared::lost(team::LaneId id, std::uint64_t operation) {
    std::vector<int> ranks;
    const auto edges = lane(id);
    if (company) {
        company->watch.look();
    }
    for (Rank rank = 0; rank < fabric.size(); ++rank) {
        const auto is_undone = [&] {
            const team::LaneState<team::Env>* const state =
                id == 0 ? &fabric.state(rank) : edges.lane_state_if_made(rank);
            return state == nullptr || state->finished.load(std::memory_order_relaxed) < operation;
        };
        if (has_left(rank, is_undone)) {
            ranks.push_back(rank);
        }
    }
    return ranks;
}

bool TeamShared::is_gone(Rank rank) noexcept {
    if (fabric.state(rank).gone.load(std::memory_order_relaxed) == 0) {
        return false;
    }
    const std::lock_guard lock(*memory); // Makes visible what the process wrote before.
    return true;
}

void TeamShared::wait_for_writes_elsewhere() noexcept {
    constexpr std::int64_t patience_ns = 2'000'000'000;
    const std::int64_t deadline = now_ns() + patience_ns;
    std::string late;
    for (Rank rank = 0; rank < fabric.size(); ++rank) {
        auto& state = fabric.state(rank);
        if (!is_elsewhere(rank) ||
            wait_for_writes(state.gate, company->watch, state.pid, deadline)) {
            continue;
        }
        try {
            late += fmt::format("; {} may still write into this call's buffers: end that process "
                                "before they are used again",
                                name_of(rank));
        } catch (const std::exception&) { // No memory to say more.
            continue;
        }
    }
    const std::lock_guard lock(mutex_);
    late_writes_ = std::move(late);
}

std::string TeamShared::name_of(Rank rank) {
    const bool is_gone = fabric.state(rank).gone.load(std::memory_order_relaxed) != 0;
    if (!company) {
        return fmt::format("rank {}{}", rank, is_gone ? " (gave up its handle)" : "");
    }
    const std::uint32_t pid = fabric.state(rank).pid;
    return fmt::format("rank {} (pid {}{}{})", rank, pid, process_state(pid),
                       is_gone ? ", gave up its handle" : "");
}

} // namespace corymb::detail

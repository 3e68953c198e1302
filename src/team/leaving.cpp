// SPDX-License-Identifier: Apache-2.0
#include "team/leaving.hpp"

#include "team/blame.hpp"
#include "team/disagreement.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <mutex>
#include <optional>
#include <vector>

namespace corymb::detail {

namespace {

/// Stands for the number of calls of a rank that has left with an exception.
constexpr std::uint64_t untold = std::numeric_limits<std::uint64_t>::max();

/// Under the lock: says that the rank is gone. A rank that is gone already and had other calls, or
/// none: -1.
Rank note_gone(TeamShared& shared, Rank rank, const std::optional<team::CallsInAll>& calls) {
    auto& own = shared.fabric.state(rank);
    own.calls_in_all = calls ? calls->count : untold;
    own.digest = calls ? calls->digest.value() : 0;
    own.gone.store(1, std::memory_order_relaxed);
    if (!calls) {
        return -1;
    }
    for (Rank other = 0; other < shared.fabric.size(); ++other) {
        const auto& state = shared.fabric.state(other);
        if (state.gone.load(std::memory_order_relaxed) != 0 && state.calls_in_all != untold &&
            (state.calls_in_all != own.calls_in_all || state.digest != own.digest)) {
            return other;
        }
    }
    return -1;
}

/// Ranks other than `rank` in a blocking operation later than number `calls`, the last one of
/// `rank`.
std::vector<int> waiting_for(TeamShared& shared, Rank rank, std::uint64_t calls) {
    std::vector<int> ranks;
    for (Rank other = 0; other < shared.fabric.size(); ++other) {
        if (other == rank) {
            continue;
        }
        const auto& state = shared.fabric.state(other);
        const std::uint64_t started = state.started.load(std::memory_order_relaxed);
        if (started > calls && state.finished.load(std::memory_order_relaxed) < started) {
            ranks.push_back(other);
        }
    }
    return ranks;
}

/// The last operation on a lane that both ranks have called.
std::uint64_t last_of_both(TeamShared& shared, team::LaneId lane, Rank one, Rank other) {
    std::uint64_t last = std::numeric_limits<std::uint64_t>::max();
    const auto edges = shared.lane(lane);
    for (const Rank rank : {one, other}) {
        const team::LaneState<team::Env>* const state =
            lane == 0 ? &shared.fabric.state(rank) : edges.lane_state_if_made(rank);
        last =
            std::min(last, state == nullptr ? 0 : state->started.load(std::memory_order_relaxed));
    }
    return last;
}

team::Failure had_other_calls(TeamShared& shared, Rank rank, Rank other) {
    const auto& own = shared.fabric.state(rank);
    const auto& its = shared.fabric.state(other);
    const team::LaneId lanes = team::first_own_lane + shared.own_lanes_known();
    for (team::LaneId lane = 0; lane < lanes; ++lane) {
        if (auto found = disagreement(shared, lane, last_of_both(shared, lane, rank, other))) {
            return *found;
        }
    }
    if (own.calls_in_all != its.calls_in_all) {
        return {Errc::mismatch,
                fmt::format("rank {} has left a team of {} after {} collective operations, and "
                            "rank {} after {}; all ranks call the same",
                            other, shared.fabric.size(), its.calls_in_all, rank, own.calls_in_all),
                {other, rank}};
    }
    return {Errc::mismatch,
            fmt::format("rank {} and rank {} have left a team of {} after {} collective operations "
                        "each, which were not the same on both; all ranks call the same operations "
                        "in the same order, with the same root, size and type",
                        other, rank, shared.fabric.size(), own.calls_in_all),
            {other, rank}};
}

} // namespace

void leave(TeamShared& shared, Rank rank, const std::optional<team::CallsInAll>& calls) {
    Rank other = -1;
    {
        const std::lock_guard lock(*shared.memory);
        other = note_gone(shared, rank, calls);
    }
    if (shared.is_broken()) {
        return;
    }
    const auto& state = shared.fabric.state(rank);
    // An exception may come out of an operation whose failure is told to all ranks of it.
    const auto& last = calls ? state.finished : state.started;
    const auto waiting = waiting_for(shared, rank, last.load(std::memory_order_relaxed));
    if (!waiting.empty()) {
        shared.fail(
            {Errc::team_broken,
             fmt::format("{}{} after {} blocking operations, and {} waits in the next",
                         shared.name_of(rank), calls ? "" : " left with an exception",
                         state.finished.load(std::memory_order_relaxed), names_of(shared, waiting)),
             {rank}});
    } else if (other >= 0) {
        shared.fail(had_other_calls(shared, rank, other));
    }
}

} // namespace corymb::detail

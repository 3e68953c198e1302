// SPDX-License-Identifier: Apache-2.0
#include "team/blame.hpp"

#include "base/assert.hpp"
#include "team/ask_again.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <mutex>
#include <set>

namespace corymb::detail {

namespace {

double seconds(std::int64_t deadline_ns) {
    return static_cast<double>(deadline_ns) * 1e-9;
}

/// How far a rank is on one lane.
struct Progress {
    std::uint64_t started = 0;
    std::uint64_t finished = 0;
};

Progress progress_of(TeamShared& shared, const team::Fabric<team::Env>& edges, team::LaneId lane,
                     Rank rank) {
    if (lane == 0) {
        const auto& state = shared.fabric.state(rank);
        return {state.started.load(std::memory_order_relaxed),
                state.finished.load(std::memory_order_relaxed)};
    }
    const auto* const state = edges.lane_state_if_made(rank);
    return state == nullptr ? Progress{}
                            : Progress{state->started.load(std::memory_order_relaxed),
                                       state->finished.load(std::memory_order_relaxed)};
}

/// Those `ranks` that are in an operation which another of them has not begun. Such a rank may be
/// late because of the other.
std::set<int> held_up(TeamShared& shared, const std::vector<int>& ranks) {
    std::set<int> waiting;
    const team::LaneId end = team::first_own_lane + shared.own_lanes_known();
    for (team::LaneId lane = 0; lane < end; ++lane) {
        const auto edges = shared.lane(lane);
        const std::lock_guard lock(*shared.memory);
        std::vector<Progress> all;
        for (const int rank : ranks) {
            all.push_back(progress_of(shared, edges, lane, rank));
        }
        const auto least = std::ranges::min(all, {}, &Progress::started).started;
        for (std::size_t i = 0; i < all.size(); ++i) {
            if (all[i].started > least && all[i].finished < all[i].started) {
                waiting.insert(ranks[i]);
            }
        }
    }
    return waiting;
}

/// "rank 1 did not arrive within 3 s", with the processes of the ranks.
std::string describe_missing(TeamShared& shared, std::vector<int>& missing,
                             std::int64_t deadline_ns) {
    const std::set<int> waiting = held_up(shared, missing);
    const std::vector<int> others(waiting.begin(), waiting.end());
    const bool is_told = others.size() < missing.size();
    if (is_told) {
        std::erase_if(missing, [&](int rank) { return waiting.contains(rank); });
    }
    std::string text = fmt::format("{} did not arrive within {:.3g} s", names_of(shared, missing),
                                   seconds(deadline_ns));
    if (is_told && !others.empty()) {
        text += fmt::format("; {} in an earlier operation, which not all have begun",
                            names_of(shared, others) + (others.size() == 1 ? " is" : " are"));
    }
    return text;
}

} // namespace

std::string names_of(TeamShared& shared, const std::vector<int>& ranks) {
    std::vector<std::string> list;
    for (const int rank : ranks) {
        list.push_back(shared.name_of(rank));
    }
    return fmt::format("{}", fmt::join(list, ", "));
}

team::Failure blame(TeamShared& shared, const Standstill& at) {
    const Plan& plan = *at.plan;
    const auto& steps = plan.steps[static_cast<std::size_t>(at.rank)];
    const Rank peer = steps[at.step].peer;
    team::Failure failure;
    std::string what;
    if (!at.lost.empty()) {
        failure.ranks = at.lost;
        what = names_of(shared, at.lost) + " ended without finishing it";
    } else if (!at.timed_out) {
        failure.ranks = {peer};
        const bool writes = steps[at.step].via == Mechanism::push;
        what = shared.name_of(peer) + " cannot be copied " + (writes ? "to" : "from");
    } else {
        failure = {Errc::timeout, "", at.missing};
        what =
            at.missing.empty()
                ? fmt::format("everybody arrived, but rank {} waited in vain for {} for {:.3g} s",
                              at.rank, shared.name_of(peer), seconds(at.deadline_ns))
                : describe_missing(shared, failure.ranks, at.deadline_ns);
        if (at.planning_ns > 0) {
            what += fmt::format("; the plan took {:.3g} s of that", seconds(at.planning_ns));
        }
    }
    failure.text =
        fmt::format("{} (operation {} of a team of {}): {} (seen by {} in step {} of {} of {})",
                    to_string(at.key.op), at.operation, plan.size(), what, shared.name_of(at.rank),
                    at.step, steps.size(), plan.algorithm);
    return failure;
}

team::Failure blame_collective(TeamShared& shared, Rank rank, const Queue& queue,
                               const LaneOperation& operation, std::int64_t deadline_ns,
                               bool timed_out) {
    auto lane = shared.lane(queue.lane->id());
    std::vector<int> missing;
    for (Rank other = 0; other < shared.fabric.size(); ++other) {
        if (lane.lane_state(other).started.load(std::memory_order_relaxed) < queue.begun) {
            missing.push_back(other);
        }
    }
    const std::size_t step = operation.activation.step_of_plan();
    auto failure = blame(shared, {rank,
                                  operation.key,
                                  operation.activation.program->plan,
                                  queue.begun,
                                  step,
                                  deadline_ns,
                                  missing,
                                  {},
                                  timed_out,
                                  operation.planning_ns});
    failure.text += fmt::format(", on lane {}", queue.lane->id());
    return failure;
}

std::vector<int> lost_soon(const std::function<std::vector<int>()>& lost) {
    using namespace std::chrono_literals;
    return ask_again(lost, [](const auto& ranks) { return !ranks.empty(); }, 1s);
}

team::Failure blame_lost(TeamShared& shared, Rank rank, const Queue& queue,
                         const std::vector<int>& lost) {
    const LaneOperation* first = queue.first;
    const std::string what =
        first == nullptr ? "an operation"
        : first->pair.peer >= 0
            ? fmt::format("a message of {} bytes", first->operands.bytes)
            : fmt::format("{} (operation {} on lane {})", to_string(first->key.op), queue.begun,
                          queue.lane->id());
    return {Errc::team_broken,
            fmt::format("{} of a team of {}: {} ended without finishing it (seen by {} in step {})",
                        what, shared.fabric.size(), names_of(shared, lost), shared.name_of(rank),
                        first == nullptr ? 0 : first->activation.step_of_plan()),
            lost};
}

team::Failure blame_exception(TeamShared& shared, Rank rank, const std::exception_ptr& thrown) {
    try {
        std::rethrow_exception(thrown);
    } catch (const BrokenInvariant& broken) {
        return {broken.code(), shared.name_of(rank) + " has found " + broken.what(), {rank}};
    } catch (...) {
        return {Errc::team_broken,
                fmt::format("the operator of {} has thrown an exception", shared.name_of(rank)),
                {rank}};
    }
}

void tell_broken_invariant(TeamShared& shared, Rank rank) {
    try {
        throw;
    } catch (const BrokenInvariant&) {
        shared.fail(blame_exception(shared, rank, std::current_exception()));
    } catch (...) { // The caller's handler throws it on.
    }
}

team::Failure blame_pair(Rank rank, const LaneOperation& operation, std::int64_t deadline_ns,
                         bool timed_out) {
    const auto [peer, direction, via] = operation.pair;
    const bool is_send = direction == team::Direction::send;
    const std::string message =
        fmt::format("{} {} rank {} of {} bytes by rank {}: rank {} ", is_send ? "send" : "receive",
                    is_send ? "to" : "from", peer, operation.operands.bytes, rank, peer);
    if (!timed_out) {
        return {Errc::team_broken, message + "cannot be copied from", {peer}};
    }
    return {Errc::timeout,
            message + fmt::format("{} it within {:.3g} s",
                                  is_send ? "did not take" : "did not send", seconds(deadline_ns)),
            {peer}};
}

} // namespace corymb::detail

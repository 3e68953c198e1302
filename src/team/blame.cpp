// SPDX-License-Identifier: Apache-2.0
#include "team/blame.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace corymb::detail {

namespace {

double seconds(const TeamShared& shared) {
    return static_cast<double>(shared.deadline_ns) * 1e-9;
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
    const auto& plan = shared.plan(at.key).plan;
    const auto& steps = plan.steps[static_cast<std::size_t>(at.rank)];
    const Rank peer = steps[at.step].peer;
    team::Failure failure;
    std::string what;
    if (!at.lost.empty()) {
        failure.ranks = at.lost;
        what = names_of(shared, at.lost) + " ended without finishing it";
    } else if (!at.timed_out) {
        failure.ranks = {peer};
        what = shared.name_of(peer) + " cannot be copied from";
    } else {
        failure = {Errc::timeout, "", at.missing};
        what = at.missing.empty()
                   ? fmt::format("everybody arrived, but rank {} waited in vain for {}", at.rank,
                                 shared.name_of(peer))
                   : names_of(shared, at.missing) + " did not arrive";
        what += fmt::format(" within {:.3g} s", seconds(shared));
    }
    failure.text =
        fmt::format("{} (operation {} of a team of {}): {} (seen by {} in step {} of {} of {})",
                    to_string(at.key.op), at.operation, plan.size(), what, shared.name_of(at.rank),
                    at.step, steps.size(), plan.algorithm);
    return failure;
}

team::Failure blame_collective(TeamShared& shared, Rank rank, const Queue& queue,
                               const LaneOperation& operation) {
    auto lane = shared.lane(queue.lane->id());
    std::vector<int> missing;
    for (Rank other = 0; other < shared.fabric.size(); ++other) {
        if (lane.lane_state(other).started.load(std::memory_order_relaxed) < queue.begun) {
            missing.push_back(other);
        }
    }
    auto failure =
        blame(shared, {rank, operation.key, queue.begun, operation.activation.step, missing});
    failure.text += fmt::format(", on lane {}", queue.lane->id());
    return failure;
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
                        first == nullptr ? 0 : first->activation.step),
            lost};
}

team::Failure blame_operator(TeamShared& shared, Rank rank) {
    return {Errc::team_broken,
            fmt::format("the operator of {} has thrown an exception", shared.name_of(rank)),
            {rank}};
}

team::Failure blame_pair(const TeamShared& shared, Rank rank, const LaneOperation& operation) {
    const bool is_send = operation.pair.direction == team::Direction::send;
    return {Errc::timeout,
            fmt::format("{} {} rank {} of {} bytes by rank {}: rank {} {} it within {:.3g} s",
                        is_send ? "send" : "receive", is_send ? "to" : "from", operation.pair.peer,
                        operation.operands.bytes, rank, operation.pair.peer,
                        is_send ? "did not take" : "did not send", seconds(shared)),
            {operation.pair.peer}};
}

} // namespace corymb::detail

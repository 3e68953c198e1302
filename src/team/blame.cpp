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

team::Failure blame(TeamShared& shared, const Standstill& at) {
    const auto& plan = shared.plan(at.key).plan;
    const auto& steps = plan.steps[static_cast<std::size_t>(at.rank)];
    team::Failure failure{Errc::timeout, "", at.missing};
    failure.text = fmt::format("{} (operation {} of a team of {}): ", to_string(at.key.op),
                               at.operation, plan.size());
    if (at.missing.empty()) {
        failure.text += fmt::format("everybody arrived, but rank {} waited in vain for rank {}",
                                    at.rank, steps[at.step].peer);
    } else {
        failure.text += fmt::format("rank{} {} did not arrive", at.missing.size() == 1 ? "" : "s",
                                    fmt::join(at.missing, ", "));
    }
    failure.text += fmt::format(" within {:.3g} s (seen by rank {} in step {} of {} of {})",
                                seconds(shared), at.rank, at.step, steps.size(), plan.algorithm);
    return failure;
}

team::Failure blame_collective(TeamShared& shared, Rank rank, const Queue& queue,
                               const Operation& operation) {
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

team::Failure blame_pair(const TeamShared& shared, Rank rank, const Operation& operation) {
    const bool is_send = operation.pair.direction == team::Direction::send;
    return {Errc::timeout,
            fmt::format("{} {} rank {} of {} bytes by rank {}: rank {} {} it within {:.3g} s",
                        is_send ? "send" : "receive", is_send ? "to" : "from", operation.pair.peer,
                        operation.operands.bytes, rank, operation.pair.peer,
                        is_send ? "did not take" : "did not send", seconds(shared)),
            {operation.pair.peer}};
}

} // namespace corymb::detail

// SPDX-License-Identifier: Apache-2.0
// Finds the ranks that are to blame when an operation has waited too long.
#pragma once

#include "team/operation.hpp"
#include "team/team_shared.hpp"

#include <cstdint>
#include <exception>
#include <functional>
#include <string>
#include <vector>

namespace corymb::detail {

/// Where a rank stood when its patience ended.
struct Standstill {
    Rank rank;
    team::PlanKey key;
    const Plan* plan;        ///< The plan that the rank runs.
    std::uint64_t operation; ///< The operation's number on its lane, from 1.
    std::size_t step;
    std::int64_t deadline_ns; ///< How long the rank waits.
    std::vector<int> missing; ///< Ranks that have not begun it.
    std::vector<int> lost{};  ///< Ranks whose process has ended.
    bool timed_out = true;    ///< False: if no rank is lost, a peer's memory could not be copied.
    std::int64_t planning_ns = 0; ///< The part of `deadline_ns` that the plan took.
};

/// "rank 1 (pid 77), rank 3 (pid 79, ended)".
[[nodiscard]] std::string names_of(TeamShared& shared, const std::vector<int>& ranks);

[[nodiscard]] team::Failure blame(TeamShared& shared, const Standstill& at);
/// Blames the ranks that hold up the first operation of a queue; `deadline_ns` and `timed_out` as
/// in Standstill.
[[nodiscard]] team::Failure blame_collective(TeamShared& shared, Rank rank, const Queue& queue,
                                             const LaneOperation& operation,
                                             std::int64_t deadline_ns, bool timed_out);
/// Ranks that have ended, after the memory of a peer could not be copied. A process that ends loses
/// its memory a moment before it counts as ended. Asks `lost` until it names a rank, for a second
/// at most.
[[nodiscard]] std::vector<int> lost_soon(const std::function<std::vector<int>()>& lost);
/// Blames the first operation of a queue when the ranks `lost` have ended.
[[nodiscard]] team::Failure blame_lost(TeamShared& shared, Rank rank, const Queue& queue,
                                       const std::vector<int>& lost);
/// A step has thrown on this rank: an operator of the user's, or an assertion.
[[nodiscard]] team::Failure blame_exception(TeamShared& shared, Rank rank,
                                            const std::exception_ptr& thrown);
/// In a handler outside the steps: fails the team if an assertion has thrown. Other exceptions,
/// such as those of a planner, are this rank's own.
void tell_broken_invariant(TeamShared& shared, Rank rank);
[[nodiscard]] team::Failure blame_pair(Rank rank, const LaneOperation& operation,
                                       std::int64_t deadline_ns, bool timed_out);

} // namespace corymb::detail

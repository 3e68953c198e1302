// SPDX-License-Identifier: Apache-2.0
// Decides which steps are surely ordered, whatever the timing.
#pragma once

#include "plan/matching.hpp"

#include <span>
#include <utility>
#include <vector>

namespace corymb::plan {

/// Asks whether the effect of one step is known to a rank in time. Order comes from programs and
/// from messages: a send comes before its receive, a signal before its wait, a publication before
/// its reads. A sender's wait for room orders nothing, because a smaller payload or a larger buffer
/// may spare it the wait.
struct OrderQuery {
    StepNumber source = no_step; ///< Must have completed ...
    Rank rank = -1;              ///< ... before this rank ...
    StepNumber before = no_step; ///< ... acts in this step, its message included; or, if `no_step`,
                                 ///< before it comes to its end.
};

/// Indexes of the queries that do not hold, increasing. `order` lists every step after all steps
/// that it depends on. It may leave out ranks that no query names, and have a receive before its
/// send; such messages are not looked at. Vector clocks (Mattern 1989, Fidge 1988) of 128 ranks at
/// a time, of which some step is asked for: O(ranks / 128 x steps + queries x log queries) time at
/// most, less where targets are near their sources, and memory for what differs among the messages
/// under way.
[[nodiscard]] std::vector<std::size_t> unordered_queries(const Matching& matching,
                                                         std::span<const StepNumber> order,
                                                         std::span<const OrderQuery> queries);

/// A rank whose end does not come after every rank's start, and a rank of whose start it knows
/// nothing; {-1, -1} when the plan is a barrier. O(ranks / 64 x steps) time, O(steps) memory.
[[nodiscard]] std::pair<Rank, Rank> unsynchronised(const Matching& matching,
                                                   std::span<const StepNumber> order);

} // namespace corymb::plan

// SPDX-License-Identifier: Apache-2.0
// What a rank has done with its team, for services that watch themselves.
#pragma once

#include <corymb/plan.hpp>

#include <chrono>
#include <cstdint>
#include <vector>

namespace corymb {

/// Counts of one rank since its handle on a team was made (Team::statistics).
struct TeamStatistics {
    /// Collectives and messages between two ranks that have begun, in all forms. Collectives
    /// without a byte count only if they are barriers.
    std::uint64_t operations = 0;
    /// Their bytes: those of the longest buffer of each on this rank.
    std::uint64_t bytes = 0;
    /// How often the rank has waited for others for longer than a few looks take, about a
    /// microsecond.
    std::uint64_t waits = 0;
    /// In how many of these waits it went to sleep.
    std::uint64_t sleeps = 0;
    /// Their time.
    std::chrono::nanoseconds waited{0};
    /// The part of that time by the rank that was waited for: who is late. Waits for any of several
    /// ranks count for none, so the sum may be less. One entry for each rank of the team.
    std::vector<std::chrono::nanoseconds> waited_for;
    /// The plans that were needed so far (Team::chosen_plans).
    std::vector<ChosenPlan> plans;
};

} // namespace corymb

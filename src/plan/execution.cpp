// SPDX-License-Identifier: Apache-2.0
#include "plan/execution.hpp"

#include "plan/refuse.hpp"

#include <string>

namespace corymb::plan {

void refuse_deadlock(const Plan& plan, const Standstill& standstill) {
    const auto at = [](Rank rank) {
        return static_cast<std::size_t>(rank);
    };
    // Every stuck rank waits for a stuck rank, so following the waits ends in a cycle.
    Rank rank = 0;
    while (standstill.waits_for[at(rank)] < 0) {
        ++rank;
    }
    std::vector<bool> seen(plan.steps.size(), false);
    while (!seen[at(rank)]) {
        seen[at(rank)] = true;
        rank = standstill.waits_for[at(rank)];
    }
    std::string cycle;
    constexpr int shown_max = 8;
    Rank next = standstill.waits_for[at(rank)];
    for (int shown = 0; next != rank; ++shown, next = standstill.waits_for[at(next)]) {
        if (shown == shown_max) {
            cycle += "; and so on";
            break;
        }
        const std::uint32_t index = standstill.progress[at(next)];
        cycle += "; rank " + std::to_string(next) + " is stuck in step " + std::to_string(index) +
                 " (" + described(plan.steps[at(next)][index]) + ")";
    }
    refuse(plan, rank, standstill.progress[at(rank)],
           "waits for ever in a cycle, with the least buffering that is guaranteed" + cycle);
}

} // namespace corymb::plan

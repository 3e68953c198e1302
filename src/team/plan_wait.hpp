// SPDX-License-Identifier: Apache-2.0
// The time that a call spends on its plan, which counts for the call's deadline.
#pragma once

#include "base/wait_clock.hpp"
#include "team/team_shared.hpp"

#include <cstdint>
#include <vector>

namespace corymb::detail {

/// One rank asks for the plan of one call: it makes the plan, or waits for a rank that does. Used
/// by that rank's thread.
class PlanWait {
public:
    /// The rank waits for `deadline_ns` in all.
    PlanWait(TeamShared& team, Rank rank, std::int64_t deadline_ns) noexcept;
    [[nodiscard]] Rank rank() const noexcept { return rank_; }
    /// Sleeps for a moment while others, of whom `planners` gives the ranks, make a plan for `key`.
    /// Throws when the team is broken; breaks it with Errc::timeout at the deadline.
    template <class Planners>
    void nap(const team::PlanKey& key, const Planners& planners) {
        if (clock_.waited_ns() >= deadline_ns_) {
            give_up(key, planners());
        }
        sleep();
    }
    /// The time since the beginning, as far as the rank has waited or worked.
    [[nodiscard]] std::int64_t spent_ns() noexcept;

private:
    [[noreturn]] void give_up(const team::PlanKey& key, const std::vector<int>& planners);
    void sleep();

    TeamShared& team_;
    Rank rank_;
    std::int64_t deadline_ns_;
    WaitClock clock_;
    std::int64_t worked_ns_; ///< Time of the thread at the beginning.
};

} // namespace corymb::detail

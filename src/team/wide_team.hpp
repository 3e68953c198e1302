// SPDX-License-Identifier: Apache-2.0
// What one rank's handle on a team asks for when the ranks are on several nodes. The layer that
// knows about nodes implements it, and the handle has one instead of calls of its own.
#pragma once

#include "team/call.hpp"
#include "team/driver.hpp"

#include <corymb/carrier.hpp>
#include <corymb/statistics.hpp>
#include <corymb/team.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace corymb::detail {

class WideTeam {
public:
    WideTeam() = default;
    WideTeam(const WideTeam&) = delete;
    WideTeam& operator=(const WideTeam&) = delete;
    virtual ~WideTeam() = default;

    /// A blocking operation.
    virtual void run(const Call& call) = 0;
    /// An operation that is not started yet; its driver goes on with it. `keep` lives as long.
    [[nodiscard]] virtual Operation& make(const Call& call, bool is_persistent,
                                          std::shared_ptr<const void> keep) = 0;
    /// As Team's functions of these names.
    virtual std::size_t progress() = 0;
    virtual void complete_all() = 0;
    /// The handle is given back: compares the calls of all ranks, and breaks the team if they
    /// differ. Waits at most a second for the others.
    virtual void leave() noexcept = 0;
    /// Collective where the plan is not known yet.
    [[nodiscard]] virtual ChosenPlan plan(const team::PlanKey& key) = 0;
    [[nodiscard]] virtual std::vector<ChosenPlan> chosen_plans() const = 0;
    [[nodiscard]] virtual TeamStatistics statistics() const = 0;
    /// The longest wait for other ranks from now on.
    virtual void set_deadline(std::int64_t deadline_ns) noexcept = 0;
    /// Breaks the team on this node because this rank "is told to stop", for example; false, and
    /// nothing done, without memory.
    virtual bool interrupt(const char* why) noexcept = 0;
    virtual void abandon(const std::string& why) noexcept = 0;
    [[nodiscard]] virtual const Carried& carried() const noexcept = 0;
};

} // namespace corymb::detail

// SPDX-License-Identifier: Apache-2.0
// Default plans that this process has seen: a team of the same shape as one before plans nothing,
// and programs that make many teams get plans at once.
#pragma once

#include "team/faster_way.hpp"
#include "team/team_shared.hpp"

#include <corymb/plan.hpp>

#include <atomic>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

namespace corymb::team {

/// Teams with equal origins share their default plans. Two facts are left out. The measured costs
/// of copies (Surroundings) differ a little each time that processes meet, so a process would never
/// find a plan again. The plan keeps the costs of the first such team, and only the faster way
/// counts. The model of the machine is found once in a process for each set of CPUs, so it follows
/// from `cpus`.
struct PlanOrigin {
    std::vector<int> cpu_of_rank;
    std::vector<int> cpus;
    int size = 0;
    bool are_processes = false;
    bool pull = true;
    bool push = true;
    FasterWay way = FasterWay::unknown;
    int usable = 1; ///< Ranks that can run at the same time.
    PlanKey key;

    auto operator<=>(const PlanOrigin&) const = default;
};

/// A plan, and what is known about the search for a better one. Thread-safe.
struct KnownPlan {
    explicit KnownPlan(plan::ProvenPlan known, bool best = false, std::int64_t search = 0) noexcept
        : plan(std::move(known)), is_best(best), search_ns(search) {}

    plan::ProvenPlan plan;
    bool is_best = false;       ///< No search would find a better one.
    std::int64_t search_ns = 0; ///< How long a search takes, about; 0: others are to search.
    std::atomic<std::int64_t> spent_ns = 0; ///< Time of all calls with the plan.
    /// A team searches for a better plan, or has searched in vain.
    std::atomic<bool> is_searched_for = false;
};

/// Thread-safe. Null when there was no such plan, or it was forgotten for others since.
[[nodiscard]] std::shared_ptr<KnownPlan> remembered_plan(const PlanOrigin& origin);
/// Returns the plan that is remembered now: the first plan of an origin
/// stays until there is the best one. All plans together stay within some 20 MB: plans that were
/// not asked for longest are forgotten. A longer plan is returned, not kept.
std::shared_ptr<KnownPlan> remember_plan(const PlanOrigin& origin, plan::ProvenPlan plan,
                                         bool is_best, std::int64_t search_ns = 0);

} // namespace corymb::team
